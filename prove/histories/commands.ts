import type { PlanAnswer } from '@plangate/contracts';
import type { Command } from '@plangate/review';
import { sha256 } from '../sha256.ts';
import type { History, Recorded } from './recording.ts';

const MOST_SECONDS_AHEAD = 2_592_000;

/** The command that an operation gives; of a feedback its first half. Null: it gives none. */
export function commandOfOperation(operation: Recorded, history: History): Command | null {
  const { origin, firstAnswer, timeoutSeconds } = history;
  const { ifMatch, reason, id } = operation;
  const person = { by: origin.owner.user, ifMatch };
  switch (operation.kind) {
    case 'create':
      return { type: 'create', origin, timeoutSeconds, ...hashed(firstAnswer) };
    case 'close':
      return { type: 'close', deadline: operation.deadline ?? '', origin };
    case 'feedback':
      return { type: 'begin_feedback', ...person };
    case 'edit': {
      const text = operation.plan ?? '';
      return { type: 'edit', plan: { text, sha256: sha256(text) }, ...person };
    }
    case 'approve':
      return { type: 'approve', decisionId: id, ...person };
    case 'reject':
      return { type: 'reject', decisionId: id, reason, ...person };
    case 'extend':
      return {
        type: 'extend',
        seconds: operation.seconds ?? 0,
        maxSecondsAhead: MOST_SECONDS_AHEAD,
        ...person,
      };
    case 'cancel':
      return { type: 'cancel', decisionId: id, by: person.by, reason, origin };
    case 'read':
      return null;
  }
}

/** An answer of the model as a command holds it. */
export function hashed(answer: PlanAnswer) {
  return { answer, sha256: sha256(answer.plan ?? answer.message) };
}
