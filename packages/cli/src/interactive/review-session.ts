import { isCancel, log, note, select, text } from '@clack/prompts';
import { ConflictError, isOver, type PlanDiff, type Review, StatusError } from '@plangate/sdk';
import { follow } from '../commands/watch.ts';
import type { Context } from '../context.ts';
import { describeEnd, describeTask, hasSucceeded, planText } from '../describe.ts';
import { diffText } from '../diff-text.ts';
import { EXIT, ExitError } from '../exit-codes.ts';
import { noteIfSlow } from '../note-if-slow.ts';
import { plain } from '../output.ts';
import { editText } from './editor.ts';
import { sendOrKeep } from './kept-text.ts';
import { followReview, type LiveReview } from './live-review.ts';
import { assumeSize } from './terminal-size.ts';

type Choice = 'approve' | 'feedback' | 'edit' | 'extend' | 'reject' | 'leave';

/** What a person did with the plan that they saw; `moved` where it changed under them. */
type Step = 'acted' | 'moved' | 'left';

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
  let shownVersion: number | undefined;
  try {
    while (review.status === 'reviewing') {
      await show(context, review, shownVersion);
      shownVersion = review.plan_version;
      const step = await decide(context, review, live);
      if (step === 'left')
        return log.info(`Nothing is decided; the review stays open until ${review.expires_at}.`);
      review = await plangate.review.get(id, { signal });
      if (step === 'moved') log.warn('The review has changed meanwhile.');
    }
  } finally {
    live.close();
  }
  await finish(context, review);
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

async function decide(context: Context, review: Review, live: LiveReview): Promise<Step> {
  const hasPlan = review.current_plan !== '';
  const changed = live.changedSince(review.version);
  const choice = await asked<Choice>(
    context,
    changed,
    select<Choice>({
      message: hasPlan ? 'What shall happen with this plan?' : 'What do you answer?',
      options: [
        ...(hasPlan ? [{ value: 'approve' as const, label: 'Approve', hint: 'the research starts' }] : []),
        ...(review.feedbacks_left > 0
          ? [{ value: 'feedback' as const, label: hasPlan ? 'Give feedback' : 'Answer' }]
          : []),
        { value: 'edit', label: hasPlan ? 'Edit it' : 'Write the plan', hint: 'in your editor' },
        { value: 'extend', label: 'Take an hour more' },
        { value: 'reject', label: 'Reject', hint: 'the task ends' },
        { value: 'leave', label: 'Leave it open' },
      ],
      signal: changed,
    }),
  );
  if (choice === null) return 'moved';
  if (choice === 'leave') return 'left';
  try {
    return await act(context, review, choice, changed);
  } catch (error) {
    if (error instanceof ConflictError) {
      log.warn(plain(error.text));
      return 'moved';
    }
    // What the gateway refuses or a model fails at leaves the review open; other faults end the command.
    if (!(error instanceof StatusError) || error.status >= 503) throw error;
    log.error(plain(error.message));
    return 'acted';
  }
}

async function act(context: Context, review: Review, choice: Choice, changed: AbortSignal): Promise<Step> {
  const { plangate, signal, environment } = context;
  switch (choice) {
    case 'approve': {
      const { message } = await plangate.review.approve(review, { signal });
      log.success(message);
      return 'acted';
    }
    case 'feedback': {
      const message = await asked(context, changed, askText('What shall be different?', changed, true));
      if (message === null) return 'moved';
      log.step('The planner is at work ...');
      await sendOrKeep(message, () => plangate.review.feedback(review, message, { signal }), log.warn);
      return 'acted';
    }
    case 'edit': {
      const edited = await editText(review.current_plan, environment);
      if (edited === null) log.info('The text is as it was, or empty: nothing was sent.');
      else await sendOrKeep(edited, () => plangate.review.edit(review, edited, { signal }), log.warn);
      return 'acted';
    }
    case 'extend':
      await plangate.review.extend(review, 3_600, { signal });
      return 'acted';
    case 'reject': {
      const reason = await asked(context, changed, askText('Why? (may be empty)', changed, false));
      if (reason === null) return 'moved';
      await plangate.review.reject(review, { ...(reason === '' ? {} : { reason }), signal });
      return 'acted';
    }
    case 'leave':
      return 'left';
  }
}

function askText(message: string, signal: AbortSignal, isNeeded: boolean): Promise<string | symbol> {
  return text({
    message,
    signal,
    defaultValue: '',
    validate: (value) => (isNeeded && (value ?? '').trim() === '' ? 'Please write something.' : undefined),
  });
}

/**
 * The answer to a question; null where the review changed before there was one.
 * @throws {ExitError} where the person pressed Ctrl-C
 */
async function asked<T>(
  context: Context,
  changed: AbortSignal,
  question: Promise<T | symbol>,
): Promise<T | null> {
  const answer = await question;
  if (!isCancel(answer)) return answer as T;
  context.signal.throwIfAborted();
  if (changed.aborted) return null;
  throw new ExitError(EXIT.interrupted, 'Nothing is decided; the review stays open.');
}

/** Tells how the review ended, and follows an approved task to its report. */
async function finish(context: Context, review: Review): Promise<void> {
  const { plangate, output, signal } = context;
  const { workflow_id, status, decision } = review;
  const by = decision ? ` by ${decision.by}${decision.reason ? `: ${plain(decision.reason)}` : ''}` : '';
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
