import type { AuditEntry } from '@plangate/contracts';
import { splitChains } from '@plangate/review';
import type { Aftermath } from './aftermath.ts';
import type { Action, Life } from './life.ts';

/** The steps that end a review, by what people call them. */
const CLOSING = ['approve', 'reject', 'cancel', 'time_out'];
/** The steps that change a review each time: nothing that stands already answers them. */
const ALWAYS_NEW: Action['kind'][] = ['feedback', 'edit', 'extend'];

/** What was answered with success is there, what was refused is not, nothing is there twice. */
export function wrongAnswers({ actions }: Life, after: Aftermath): string[] {
  const accepted = splitChains(after.audit).accepted;
  return actions.flatMap((action) => {
    const name = `${action.text} (answered ${action.status} ${action.body?.code ?? ''})`;
    return [...wrongEntries(action, accepted), ...wrongTraces(action, after)].map(
      (text) => `${name} ${text}`,
    );
  });
}

/** Each accepted step names its request. */
function wrongEntries(action: Action, accepted: AuditEntry[]): string[] {
  const { kind, status, requestId } = action;
  const own = accepted.filter(({ request_id }) => request_id !== '' && request_id === requestId);
  if (own.length > 1) return [`is in the audit ${own.length} times`];
  if (isDone(action)) {
    if (own.length === 1) return own[0]?.action === kind ? [] : [`is in the audit as ${own[0]?.action}`];
    return isAnsweredBy(action, accepted) ? [] : ['is lost: the audit does not have it'];
  }
  if (own.length === 1 && status >= 400 && status < 500 && !isTakenBack(action, accepted)) {
    return ['is in the audit'];
  }
  return [];
}

/** A decision that stands answers whoever decides the same again, and any end of the review a cancel. */
function isAnsweredBy({ kind, to }: Action, accepted: AuditEntry[]): boolean {
  if (ALWAYS_NEW.includes(kind)) return false;
  const answering = kind === 'cancel' ? CLOSING : [kind];
  return accepted.some(({ action, at }) => answering.includes(action) && Date.parse(at) <= to);
}

/** An approval that nobody could act upon any more is taken back, and the person is told so. */
function isTakenBack({ kind, body }: Action, accepted: AuditEntry[]): boolean {
  const isTold = body?.error === 'Review is closed: cancelled';
  return kind === 'approve' && isTold && accepted.some(({ action }) => action === 'withdraw');
}

/** What the review shows of an action besides its audit: its words among the rounds, its plan among the versions. */
function wrongTraces(action: Action, { review, versions }: Aftermath): string[] {
  const { kind, text, status } = action;
  if (kind === 'approve' || kind === 'reject') {
    const wanted = kind === 'approve' ? 'approved' : 'rejected';
    return isDone(action) && review.status !== wanted ? [`and the review is ${review.status}`] : [];
  }
  if (kind !== 'feedback' && kind !== 'edit') return [];
  const happened =
    kind === 'feedback'
      ? review.rounds.filter(({ role, message }) => role === 'user' && message === text).length
      : versions.filter((plan) => plan.text.startsWith(`${text}:`)).length;
  if (happened > 1) return [`happened ${happened} times`];
  if (happened === 0) return isDone(action) ? ['is lost'] : [];
  return status >= 400 && status !== 503 ? ['happened'] : [];
}

function isDone({ status }: Action): boolean {
  return status === 200 || status === 202;
}
