import type { WorkflowId } from '@plangate/contracts';
import { encodeAppend, eventKeys } from '@plangate/events/redis';
import { defineScript } from '@plangate/redis';
import type { Redis } from 'ioredis';
import type { Transition } from '../machine.ts';
import type { CommitResult, Step } from '../use-cases/ports.ts';
import { AUDIT_SECONDS } from './audit-chains.ts';
import { reviewKeys } from './keys.ts';
import { luaWithEvents } from './lua.ts';
import { fieldsOf } from './review-hash.ts';

const runScript = defineScript('review_commit', luaWithEvents('commit.lua'));

/** What `commit.lua` is told of the decision that the workflow has yet to learn. */
const AS_IT_IS = '';
const NONE = '-';

/** Writes a step if the review is still at the version that it was decided on: one run of `commit.lua`. */
export async function commitStep(redis: Redis, workflowId: WorkflowId, step: Step): Promise<CommitResult> {
  const { review, commands, plans, audit, lock } = reviewKeys(workflowId);
  const { stream, meta, channel } = eventKeys(workflowId);
  const { commandId, expectedVersion, transition, audit: entry, idempotency } = step;
  const { state, events, plan, excludesFeedback } = transition;
  // Keys and arguments in the order of the script's own names for them.
  const keys = [review, commands, plans, stream, meta, audit, lock, idempotency?.key ?? review];
  const args = [
    commandId,
    expectedVersion,
    state.version,
    channel,
    encodeAppend(events),
    plan ? JSON.stringify(plan) : '',
    undeliveredAfter(transition),
    JSON.stringify(entry),
    entry.n - 1,
    AUDIT_SECONDS,
    idempotency?.value ?? '',
    idempotency?.ttlSeconds ?? 0,
    excludesFeedback ? '1' : '0',
  ];
  const reply = await runScript(redis, keys, [...args, ...fieldsOf(state)]);
  const [result, version] = reply as [CommitResult['result'], string];
  return { result, version: Number(version) };
}

function undeliveredAfter({ undelivered, state }: Transition): string {
  if (undelivered === undefined) return AS_IT_IS;
  return undelivered ? (state.decision?.id ?? AS_IT_IS) : NONE;
}
