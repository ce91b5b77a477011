import type { StreamEvent, SubmitTask, TaskBody } from '@plangate/sdk';
import { type Command, Option } from 'commander';
import { type Context, contextOf, type Surroundings, wholeNumber } from '../context.ts';
import { describeTask, hasSucceeded, statusWord } from '../describe.ts';
import { EXIT, ExitError, UsageError } from '../exit-codes.ts';
import { reviewInteractively } from '../interactive/review-session.ts';
import { noteIfSlow } from '../note-if-slow.ts';
import { firstLine, plain, table } from '../output.ts';
import { wordsOrInput } from '../text-input.ts';
import { follow } from './watch.ts';

interface SubmitOptions {
  review?: boolean;
  reviewTimeout?: string;
  strategy?: string;
  mode?: string;
  session?: string;
  context?: string;
  wait?: boolean;
}

/** `submit`, `tasks`, `status`, `cancel`, `pause`, `resume`. */
export function addTaskCommands(program: Command, surroundings: Surroundings): void {
  program
    .command('submit')
    .description('submit a task; - reads the question from standard input')
    .argument('<question...>')
    .option('--review', 'let the plan wait for a person')
    .option('--review-timeout <seconds>', 'how long it waits (implies --review)')
    .addOption(
      new Option('--strategy <name>', 'how thoroughly').choices(['quick', 'standard', 'deep', 'academic']),
    )
    .addOption(new Option('--mode <mode>').choices(['simple', 'standard', 'complex', 'supervisor']))
    .option('--session <id>', 'go on with an earlier session')
    .option('--context <json>', 'further context, an object')
    .option('--wait', 'follow the task to its end; with --review in a terminal, review it here')
    .action(async (words: string[], options: SubmitOptions, command: Command) => {
      await submit(contextOf(command, surroundings), await wordsOrInput(words), options);
    });

  program
    .command('tasks')
    .description('list your tasks, the newest first')
    .option('--limit <n>', '1 to 100', '20')
    .option('--offset <n>', 'how many to leave out', '0')
    .option('--status <status>', 'such as running or completed')
    .option('--session <id>', 'of this session only')
    .action(async (options: Record<string, string>, command: Command) => {
      await list(contextOf(command, surroundings), options);
    });

  program
    .command('status')
    .description('show a task, and its report once it has one')
    .argument('<id>')
    .option('--wait', 'wait for its end; exit code 5 where it ends without a result')
    .action(async (id: string, options: { wait?: boolean }, command: Command) => {
      const context = contextOf(command, surroundings);
      const { plangate, output, signal } = context;
      const task = options.wait ? await waitForEnd(context, id) : await plangate.tasks.get(id, { signal });
      output.result(task, () => describeTask(task, output));
      if (options.wait && !hasSucceeded(task)) throw new ExitError(EXIT.endedWithoutResult, '');
    });

  const controls = {
    cancel: 'end a task, and its review',
    pause: 'start nothing further of a task',
    resume: 'go on with a paused task',
  };
  for (const [action, description] of Object.entries(controls) as [keyof typeof controls, string][]) {
    program
      .command(action)
      .description(description)
      .argument('<id>')
      .option('--reason <text>')
      .action(async (id: string, options: { reason?: string }, command: Command) => {
        const { plangate, output, signal } = contextOf(command, surroundings);
        const answer = await plangate.tasks[action](id, { ...options, signal });
        output.result(answer, () => answer.message);
      });
  }
}

/** The task once it has ended; a review that stands in between is told on standard error. */
function waitForEnd(context: Context, id: string): Promise<TaskBody> {
  const { plangate, signal } = context;
  const onEvent = ({ event }: StreamEvent) => {
    // The wait for the end goes on, whatever becomes of this look.
    if (event === 'RESEARCH_PLAN_READY') tellIfReviewed(context, id).catch(() => undefined);
  };
  return noteIfSlow(context, `the end of ${id}`, plangate.tasks.wait(id, { signal, onEvent }));
}

async function tellIfReviewed({ plangate, output, signal }: Context, id: string): Promise<void> {
  const { status, expires_at } = await plangate.review.get(id, { signal, wait: 0 });
  if (status !== 'reviewing') return;
  output.note(`The plan waits for a person, until ${expires_at}: plangate review ${id}`);
}

async function submit(context: Context, query: string, options: SubmitOptions): Promise<void> {
  const { plangate, output, signal, isInteractive } = context;
  const isReviewed = options.review === true || options.reviewTimeout !== undefined;
  const task = await plangate.tasks.submit(submission(query, options, isReviewed), { signal });
  const { task_id } = task;
  if (options.wait && isReviewed && isInteractive) return reviewInteractively(context, task_id);
  if (options.wait) {
    output.note(
      `Submitted ${task_id}.${isReviewed ? ` Its plan waits for: plangate review ${task_id}` : ''}`,
    );
    const done = await follow(context, task_id, (line) => output.note(line));
    output.result(done, () => describeTask(done, output));
    if (!hasSucceeded(done)) throw new ExitError(EXIT.endedWithoutResult, '');
    return;
  }
  output.result(task, () => task_id);
  if (!output.isJson) output.note(`Next: plangate ${isReviewed ? 'review' : 'watch'} ${task_id}`);
}

function submission(query: string, options: SubmitOptions, isReviewed: boolean): SubmitTask {
  const { reviewTimeout, strategy, mode, session } = options;
  const context = {
    ...readContext(options.context),
    ...(isReviewed ? { require_review: true } : {}),
    ...(reviewTimeout === undefined
      ? {}
      : { review_timeout: wholeNumber('--review-timeout', reviewTimeout) }),
  };
  return {
    query,
    context,
    research_strategy: strategy as SubmitTask['research_strategy'],
    mode: mode as SubmitTask['mode'],
    session_id: session,
  };
}

function readContext(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Told below, like any other value that is no object.
  }
  throw new UsageError('--context must be a JSON object, such as {"require_review": true}');
}

async function list(context: Context, options: Record<string, string>): Promise<void> {
  const { plangate, output, signal } = context;
  const { status, session } = options;
  const page = await plangate.tasks.list({
    limit: wholeNumber('--limit', options['limit'] ?? ''),
    offset: wholeNumber('--offset', options['offset'] ?? '', 0),
    ...(status === undefined ? {} : { status }),
    ...(session === undefined ? {} : { session_id: session }),
    signal,
  });
  output.result(page, () => {
    if (page.tasks.length === 0) return 'There are no tasks.';
    const rows = page.tasks.map(({ task_id, status, created_at, query }) => [
      task_id,
      statusWord(status),
      plain(created_at),
      firstLine(query, 60),
    ]);
    const more = page.total_count > rows.length ? `\n${rows.length} of ${page.total_count}` : '';
    return table([['ID', 'STATUS', 'SUBMITTED', 'QUESTION'], ...rows]) + more;
  });
}
