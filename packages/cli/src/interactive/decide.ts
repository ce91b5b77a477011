import { isCancel, log, type SelectOptions, select, text } from '@clack/prompts';
import { ConflictError, PlangateError, type Review, StatusError } from '@plangate/sdk';
import type { Context } from '../context.ts';
import { EXIT, ExitError } from '../exit-codes.ts';
import { plain } from '../output.ts';
import { EditorError, editText } from './editor.ts';
import { outcomeOf } from './kept-text.ts';
import type { LiveReview } from './live-review.ts';

type Choice = 'approve' | 'feedback' | 'edit' | 'extend' | 'reject' | 'leave';

/** What a person did with the plan that they saw; `moved` where it changed under them. */
export type Step = 'acted' | 'moved' | 'left';

/** What a person wrote and the gateway has not taken; a feedback or a reason is offered again with its question. */
export type Unsent = Record<'feedback' | 'reason' | 'plan', string>;

/**
 * Asks what to do with the plan on the screen, and does it: always on that plan, never on one that came meanwhile.
 * @throws {ExitError} where the person pressed Ctrl-C
 * @throws what the gateway answered, where nothing more can be decided
 */
export async function decide(
  context: Context,
  review: Review,
  { live, unsent }: { live: LiveReview; unsent: Unsent },
): Promise<Step> {
  const hasPlan = review.current_plan !== '';
  const changed = live.changedSince(review.version);
  const menu: SelectOptions<Choice> = {
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
  };
  const choice = await whileOpen([changed, context.signal], (signal) => select({ ...menu, signal }));
  if (isCancel(choice)) {
    context.signal.throwIfAborted();
    if (changed.aborted) return 'moved';
    throw interrupted();
  }
  if (choice === 'leave') return 'left';
  try {
    return await act(context, review, choice, { changed, unsent });
  } catch (error) {
    if (error instanceof ConflictError) {
      log.warn(plain(error.text));
      return 'moved';
    }
    // What the gateway refuses, or a model or an editor fails at, leaves the review open; other faults end the command.
    const isPassing = error instanceof EditorError || (error instanceof StatusError && error.status < 503);
    if (isPassing) {
      log.error(plain(error.message));
      return 'acted';
    }
    if (error instanceof PlangateError) log.warn(outcomeOf(error));
    throw error;
  }
}

async function act(
  context: Context,
  review: Review,
  choice: Choice,
  { changed, unsent }: { changed: AbortSignal; unsent: Unsent },
): Promise<Step> {
  const { plangate, signal, environment } = context;
  switch (choice) {
    case 'approve': {
      const { message } = await plangate.review.approve(review, { signal });
      log.success(message);
      return 'acted';
    }
    case 'feedback': {
      unsent.feedback = await written(context, 'What shall be different?', unsent.feedback, isSomething);
      if (changed.aborted) return 'moved';
      log.step('The planner is at work ...');
      await plangate.review.feedback(review, unsent.feedback, { signal });
      unsent.feedback = '';
      return 'acted';
    }
    case 'edit': {
      const edited = await editText(review.current_plan, { environment, tell: log.warn });
      if (edited === null) {
        log.info('The text is as it was, or empty: nothing was sent.');
        return 'acted';
      }
      unsent.plan = edited;
      await plangate.review.edit(review, edited, { signal });
      unsent.plan = '';
      return 'acted';
    }
    case 'extend':
      await plangate.review.extend(review, 3_600, { signal });
      return 'acted';
    case 'reject': {
      const reason = await written(context, 'Why? (may be empty)', unsent.reason);
      unsent.reason = reason;
      if (changed.aborted) return 'moved';
      await plangate.review.reject(review, { ...(reason === '' ? {} : { reason }), signal });
      unsent.reason = '';
      return 'acted';
    }
    case 'leave':
      return 'left';
  }
}

/**
 * The answer to a question that is closed when one of the signals is aborted. It gets a signal of its own: a prompt
 * listens to its signal also after its answer, and would then close the terminal for the next one.
 */
async function whileOpen<T>(signals: AbortSignal[], ask: (closed: AbortSignal) => Promise<T>): Promise<T> {
  const closed = new AbortController();
  const close = () => closed.abort();
  if (signals.some(({ aborted }) => aborted)) close();
  for (const signal of signals) signal.addEventListener('abort', close);
  try {
    return await ask(closed.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', close);
  }
}

/**
 * What a person writes in answer to a question. Nobody who changes the review meanwhile interrupts them: what they
 * have typed would be lost.
 * @param begun what they had written before
 * @throws {ExitError} where they pressed Ctrl-C
 */
async function written(
  { signal }: Context,
  message: string,
  begun: string,
  validate?: (value: string | undefined) => string | undefined,
): Promise<string> {
  const question = { message, initialValue: begun, defaultValue: '', validate };
  const answer = await whileOpen([signal], (closed) => text({ ...question, signal: closed }));
  if (!isCancel(answer)) return answer;
  signal.throwIfAborted();
  throw interrupted();
}

function isSomething(value = ''): string | undefined {
  return value.trim() === '' ? 'Please write something.' : undefined;
}

function interrupted(): ExitError {
  return new ExitError(EXIT.interrupted, 'Nothing is decided; the review stays open.');
}
