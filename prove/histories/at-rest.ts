import type { History, Recorded } from './recording.ts';
import { isTold } from './script.ts';
import type { Truth } from './truth.ts';

/** A gateway waits at least so long for a reply of its store. */
const STORE_TIMEOUT_MS = 1_500;

/** What must hold of a history besides the places of its answers; what does not. */
export function wrongAtRest(history: History, truth: Truth): string[] {
  return [
    ...wrongModelCalls(history, truth),
    ...wrongDelivery(history, truth),
    ...wrongAway(history),
    ...wrongRefusals(history),
    ...(history.lockLeft ? ['the lock is left behind'] : []),
  ];
}

/**
 * While no lock ended before its time, the model is asked by one feedback after the other, each of which sees what
 * the one before has done, and nothing is approved during a call.
 */
function wrongModelCalls({ operations, calls, script }: History, { madeBy, states }: Truth): string[] {
  if (script.lockEnds.length > 0) return [];
  const asked = operations
    .flatMap((operation) => {
      const call = operation.kind === 'feedback' ? calls.get(operation.message ?? '') : undefined;
      return call ? [{ operation, call, made: madeBy.get(operation.id) }] : [];
    })
    .sort((a, b) => a.call.received - b.call.received);
  const pairs = asked.flatMap(({ operation, call }, at) =>
    asked.slice(0, at).flatMap((earlier) => {
      if (earlier.call.answered > call.received) {
        return [`${earlier.operation.id} and ${operation.id} asked the model at the same time`];
      }
      const rounds = states[earlier.made ?? 0]?.rounds.length ?? 0;
      const isBlind = earlier.made && call.request.conversation.length - 1 < rounds;
      return isBlind
        ? [`${operation.id} asked the model without what ${earlier.operation.id} had done before`]
        : [];
    }),
  );
  const approvals = operations.filter(({ kind, id }) => kind === 'approve' && madeBy.has(id));
  const during = approvals.flatMap(({ id, began, ended }) => {
    const flight = asked.find(({ call }) => call.received < began && call.answered > (ended ?? Infinity));
    return flight ? [`${id} approved while ${flight.operation.id} was in flight`] : [];
  });
  return [...pairs, ...during];
}

/** A decision is undelivered until the workflow has acted upon it, or is known to be over. */
function wrongDelivery({ undelivered, script }: History, { states }: Truth): string[] {
  if (isTold(script)) return undelivered === null ? [] : [`the decision ${undelivered} is not delivered`];
  const isDecided = states.at(-1)?.decision != null;
  return (undelivered !== null) === isDecided
    ? []
    : [`undelivered: ${undelivered}, decided: ${isDecided}, and nobody was told`];
}

/** A store to which the way is open is only said to be away where it did not answer in time. */
function wrongAway({ operations, cutOff }: History): string[] {
  if (cutOff) return [];
  return operations
    .filter(({ began, ended }) => ended !== null && ended - began < STORE_TIMEOUT_MS)
    .filter(({ body }) => body?.code === 'store_unavailable')
    .map(({ id }) => `${id}: 503, although the store was there`);
}

/** Every refusal that a person was given stands in the audit, at the version that it was given for. */
function wrongRefusals({ operations, audit }: History): string[] {
  const refused = audit.filter(({ outcome }) => outcome === 'refused');
  const missing = operations.filter(isRefused).flatMap(({ id, kind, body }) => {
    const entry = refused.find(({ request_id }) => request_id === id);
    const isWithdrawn = kind === 'approve' && body.error === 'Review is closed: cancelled';
    if (!entry && isWithdrawn) return [];
    const fits =
      entry?.code === body.code && (body.code === 'feedback_in_flight' || entry?.version === body.version);
    return fits ? [] : [`${id}: its refusal ${body.code} is not in the audit`];
  });
  const strange = refused.flatMap(({ request_id }) => {
    const operation = operations.find(({ id }) => id === request_id);
    if (!operation) return [`the audit has a refusal of nobody: ${request_id}`];
    const isTaken = operation.ended !== null && operation.status < 400;
    return isTaken ? [`${request_id}: audited as refused`] : [];
  });
  return [...missing, ...strange];
}

function isRefused({ kind, status, ended }: Recorded): boolean {
  if (ended === null || status < 400 || status > 409 || status === 404) return false;
  return (
    kind === 'feedback' || kind === 'edit' || kind === 'approve' || kind === 'reject' || kind === 'extend'
  );
}
