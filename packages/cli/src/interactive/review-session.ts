import { log, note } from '@clack/prompts';
import { isOver, type PlanDiff, type Review } from '@plangate/sdk';
import { follow } from '../commands/watch.ts';
import type { Context } from '../context.ts';
import { describeEnd, describeTask, hasSucceeded, planText } from '../describe.ts';
import { diffText } from '../diff-text.ts';
import { EXIT, ExitError } from '../exit-codes.ts';
import { noteIfSlow } from '../note-if-slow.ts';
import { plain } from '../output.ts';
import { decide, type Unsent } from './decide.ts';
import { keepText } from './kept-text.ts';
import { followReview } from './live-review.ts';
import { assumeSize } from './terminal-size.ts';

/**
 * Reviews a plan in the terminal: shows it, asks what to do, shows what changed after each round, until there is a
 * decision; then follows the task to its report. What others do meanwhile is shown as it happens: a decision is
 * always on the plan that stands on the screen.
 * @throws {ExitError} where the person leaves by Ctrl-C, or the task ends without a result
 */
export async function reviewInteractively(context: Context, id: string): Promise<void> {
  const { plangate, signal } = context;
  assumeSize(process.stdout);
  let review = await noteIfSlow(context, `the plan of ${id}`, plangate.review.waitUntilReady(id, { signal }));
  const live = followReview(plangate, id, () => log.warn('Changes by others cannot be followed just now.'));
  const unsent: Unsent = { feedback: '', reason: '', plan: '' };
  let shownVersion: number | undefined;
  try {
    while (review.status === 'reviewing') {
      await show(context, review, shownVersion);
      shownVersion = review.plan_version;
      const step = await decide(context, review, { live, unsent });
      if (step === 'left')
        return log.info(`Nothing is decided; the review stays open until ${review.expires_at}.`);
      review = await plangate.review.get(id, { signal });
      if (step === 'moved') log.warn('The review has changed meanwhile.');
      // Not opened again on top of what somebody else has written.
      keep(unsent, ['plan']);
      if (unsent.feedback + unsent.reason !== '' && review.status === 'reviewing') {
        log.info('What you wrote is offered again.');
      }
    }
  } finally {
    live.close();
    keep(unsent, ['feedback', 'reason', 'plan']);
  }
  await finish(context, review);
}

function keep(unsent: Unsent, which: (keyof Unsent)[]): void {
  for (const name of which) {
    if (unsent[name] !== '') log.warn(keepText(`${unsent[name]}\n`));
    unsent[name] = '';
  }
}

async function show(context: Context, review: Review, before: number | undefined): Promise<void> {
  const { plangate, output, signal } = context;
  const { workflow_id, version, plan_version, feedbacks_left, expires_at } = review;
  if (before !== undefined && before > 0 && plan_version > before) {
    const diff = await plangate.review.diff(workflow_id, { from: before, to: plan_version, signal });
    if (isReadable(diff)) log.message(diffText(diff, output));
  }
  note(planText(review), review.current_plan === '' ? 'The planner asks' : `Plan, version ${version}`);
  log.message(output.style('dim', `${feedbacks_left} feedbacks left, open until ${expires_at}`));
}

/** A plan that was written anew has no words in common worth showing. */
function isReadable({ changes }: PlanDiff): boolean {
  return changes.some(({ op, text }) => op === 'equal' && text.trim() !== '');
}

/** Tells how the review ended, and follows an approved task to its report. */
async function finish(context: Context, review: Review): Promise<void> {
  const { plangate, output, signal } = context;
  const { workflow_id, status, decision } = review;
  const by = decision
    ? ` by ${plain(decision.by)}${decision.reason ? `: ${plain(decision.reason)}` : ''}`
    : '';
  log.info(`The review is closed: ${status}${by}.`);
  const before = await plangate.tasks.get(workflow_id, { signal });
  const after = isOver(before) ? {} : await latestEvent(context, workflow_id);
  const task = isOver(before)
    ? before
    : await follow(context, workflow_id, (line) => output.line(line), after);
  if (hasSucceeded(task)) return output.line(`\n${describeTask(task, output)}`);
  throw new ExitError(EXIT.endedWithoutResult, describeEnd(task));
}

/** Where the story goes on: what came before has been on the screen. */
async function latestEvent({ plangate, signal }: Context, id: string): Promise<{ after?: string }> {
  const { events } = await plangate.tasks.timeline(id, { signal });
  const last = events.at(-1)?.stream_id;
  return last === undefined ? {} : { after: last };
}
