import type { Review, ReviewState } from '@plangate/sdk';
import { Command, type CommanderError } from 'commander';
import { type Context, contextOf, type Surroundings, wholeNumber } from '../context.ts';
import { describeReview } from '../describe.ts';
import { diffText } from '../diff-text.ts';
import { EXIT, ExitError, UsageError } from '../exit-codes.ts';
import { editText } from '../interactive/editor.ts';
import { sendOrKeep } from '../interactive/kept-text.ts';
import { reviewInteractively } from '../interactive/review-session.ts';
import { noteIfSlow } from '../note-if-slow.ts';
import { plain, table } from '../output.ts';
import { fileOrInput, wordsOrInput } from '../text-input.ts';

interface ConditionOptions {
  ifMatch?: string;
  unconditional?: boolean;
}

/** `review` and everything below it. */
export function addReviewCommands(program: Command, surroundings: Surroundings): void {
  const review = program
    .command('review')
    .description('review the plan of a task, here in the terminal; the commands below are for scripts')
    .argument('[id]')
    .allowExcessArguments()
    .action(async (id: string | undefined, _: unknown, command: Command) => {
      if (id === undefined) throw new UsageError('review needs the id of a task; plangate tasks shows them');
      refuseMisspelt(review, command.args);
      const context = contextOf(command, surroundings);
      if (!context.isInteractive) {
        throw new UsageError(
          'this is no terminal: use review get, approve, feedback, edit, reject (plangate review --help)',
        );
      }
      await reviewInteractively(context, id);
    });

  const read = (
    name: string,
    description: string,
    show: (context: Context, id: string, options: Record<string, string>) => Promise<void>,
  ) =>
    review
      .command(name)
      .description(description)
      .argument('<id>')
      .action(async (id: string, options: Record<string, string>, command: Command) => {
        await show(contextOf(command, surroundings), id, options);
      });
  read('get', 'show the plan; waits until there is one', get);
  read('versions', 'list every text that was the plan', versions);
  read('audit', 'list every step and every refusal', audit);
  read('diff', 'show what changed, by default since the version before', diff)
    .option('--from <version>')
    .option('--to <version>');

  const decide = (name: string, description: string) =>
    review
      .command(name)
      .description(description)
      .argument('<id>')
      .option('--if-match <version>', 'the version that you saw (review get shows it)')
      .option('--unconditional', 'whatever stands there now');
  decide('approve', 'approve the plan: exactly that one is executed').action(
    async (id: string, options: ConditionOptions, command: Command) => {
      const { plangate, output, signal } = contextOf(command, surroundings);
      const answer = await plangate.review.approve(id, { ...conditionOf(options), signal });
      output.result(answer, () => answer.message);
    },
  );
  decide('feedback', 'ask for a change, or answer the question; - reads standard input')
    .argument('<message...>')
    .action(async (id: string, words: string[], options: ConditionOptions, command: Command) => {
      const context = contextOf(command, surroundings);
      const { plangate, output, signal } = context;
      const message = await wordsOrInput(words);
      const pending = plangate.review.feedback(id, message, { ...conditionOf(options), signal });
      const answer = await noteIfSlow(context, 'the planner', pending);
      output.result(answer, () => `Version ${answer.version}:\n\n${plain(answer.plan.message).trimEnd()}`);
    });
  decide('reject', 'refuse the plan for good; the task ends')
    .option('--reason <text>')
    .action(async (id: string, options: ConditionOptions & { reason?: string }, command: Command) => {
      const context = contextOf(command, surroundings);
      const { reason } = options;
      const rejection = { ...conditionOf(options), ...(reason === undefined ? {} : { reason }) };
      show(context, await context.plangate.review.reject(id, { ...rejection, signal: context.signal }));
    });
  decide('extend', 'give it so many seconds more')
    .argument('<seconds>')
    .action(async (id: string, seconds: string, options: ConditionOptions, command: Command) => {
      const context = contextOf(command, surroundings);
      const by = wholeNumber('seconds', seconds);
      const condition = { ...conditionOf(options), signal: context.signal };
      show(context, await context.plangate.review.extend(id, by, condition));
    });
  decide('edit', 'put your own text in its place: from --file, else in $VISUAL or $EDITOR')
    .option('--file <path>', '- reads standard input')
    .action(async (id: string, options: ConditionOptions & { file?: string }, command: Command) => {
      await edit(contextOf(command, surroundings), id, options);
    });
}

/**
 * `review aprove <id>` is no review of a task `aprove`.
 * @throws {CommanderError} in the command line's own words, with the name that was meant
 */
function refuseMisspelt(review: Command, args: readonly string[]): void {
  const probe = new Command(review.name()).exitOverride().configureOutput({ writeErr: () => undefined });
  for (const command of review.commands) probe.command(command.name());
  try {
    probe.parse(args, { from: 'user' });
  } catch (error) {
    const { message } = error as CommanderError;
    if (message.includes('Did you mean')) review.error(message);
  }
  if (args.length > 1) {
    review.error('error: too many arguments: review takes the id of one task, or one of its commands');
  }
}

/** What a decision is bound to; a script has to say it. */
function conditionOf({
  ifMatch,
  unconditional,
}: ConditionOptions): { version: number } | { unconditional: true } {
  if (ifMatch !== undefined && unconditional)
    throw new UsageError('say --if-match or --unconditional, not both');
  if (unconditional) return { unconditional: true };
  if (ifMatch !== undefined) return { version: wholeNumber('--if-match', ifMatch) };
  throw new UsageError(
    'say which version you saw: --if-match <version> (review get shows it), or --unconditional',
  );
}

async function get(context: Context, id: string): Promise<void> {
  const { plangate, signal } = context;
  show(context, await noteIfSlow(context, 'the plan', plangate.review.waitUntilReady(id, { signal })));
}

function show({ output }: Context, review: Review): void {
  output.result(review, () => describeReview(review, output));
}

async function edit(
  context: Context,
  id: string,
  options: ConditionOptions & { file?: string },
): Promise<void> {
  const { plangate, output, signal, isInteractive } = context;
  if (options.file !== undefined) {
    const text = await fileOrInput(options.file);
    show(context, await plangate.review.edit(id, text, { ...conditionOf(options), signal }));
    return;
  }
  if (!isInteractive)
    throw new UsageError('this is no terminal: say --file <path>, or --file - for standard input');
  const read: Review = await plangate.review.get(id, { signal });
  const text = await editText(read.current_plan, { environment: context.environment, tell: output.note });
  if (text === null) throw new ExitError(EXIT.failure, 'The text is as it was, or empty: nothing was sent.');
  // Bound to what stood in the editor.
  const state: ReviewState = read;
  const send = () => plangate.review.edit(state, text, { signal });
  show(context, await sendOrKeep(text, send, output.note));
}

async function versions({ plangate, output, signal }: Context, id: string): Promise<void> {
  const list = await plangate.review.versions(id, { signal });
  output.result(list, () =>
    list.versions
      .map(({ version, author, by, created_at, sha256, text }) =>
        [
          output.style('bold', `Version ${version}`),
          output.style('dim', `${plain(by ?? author)}, ${created_at}, sha256 ${sha256.slice(0, 12)}`),
          plain(text).trimEnd(),
          '',
        ].join('\n'),
      )
      .join('\n')
      .trimEnd(),
  );
}

async function diff(context: Context, id: string, options: Record<string, string>): Promise<void> {
  const { plangate, output, signal } = context;
  const known = (await plangate.review.versions(id, { signal })).versions.map(({ version }) => version);
  const to = options['to'] === undefined ? known.at(-1) : wholeNumber('--to', options['to']);
  const before = known.findLast((version) => version < (to ?? 0)) ?? to;
  const from = options['from'] === undefined ? before : wholeNumber('--from', options['from']);
  if (from === undefined || to === undefined) throw new ExitError(EXIT.notFound, 'There is no plan yet.');
  const found = await plangate.review.diff(id, { from, to, signal });
  output.result(found, () => diffText(found, output));
}

async function audit({ plangate, output, signal }: Context, id: string): Promise<void> {
  const list = await plangate.review.audit(id, { signal });
  output.result(list, () =>
    table([
      ['AT', 'BY', 'ACTION', 'OUTCOME', 'CODE', 'VERSION', 'HASH'],
      ...list.entries.map(({ at, by, action, outcome, code, version, hash }) =>
        [at, by, action, outcome, code, String(version), hash.slice(0, 12)].map(plain),
      ),
    ]),
  );
}
