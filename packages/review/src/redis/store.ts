import type { AuditChain, AuditEntry, WorkflowId } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import { encodeAppend, eventKeys } from '@plangate/events/redis';
import { defineScript, faultAt, millisecondsOf, readStored, UnreadableStateError } from '@plangate/redis';
import type { Redis } from 'ioredis';
import type { AuditHead } from '../audit.ts';
import { PlanVersion } from '../state.ts';
import type { CommitResult, Loaded, RefusalChain, Step, Store } from '../use-cases/ports.ts';
import { appendRefusal, headOf, readAudit } from './audit-chains.ts';
import { commitStep } from './commit.ts';
import { type ReviewKeys, reviewKeys } from './keys.ts';
import { luaFile, luaWithEvents } from './lua.ts';
import { type OpenReview, readOpenReviews } from './open-reviews.ts';
import { BODY_FIELDS, readBodyFields, readState, type StoredBody } from './review-hash.ts';

const acknowledge = defineScript('review_acknowledge', luaWithEvents('acknowledge.lua'));
const announceOpen = defineScript('review_announce_open', luaWithEvents('announce-open.lua'));
const noteSent = defineScript('review_note_sent', luaFile('note-sent.lua'));

/** What `PTTL` says of a key that never expires, and of one that is not there. */
const NO_EXPIRY = -1;
const NO_KEY = -2;

export interface ReviewStoreOptions {
  /** Told of a refusal that stands in no chain, and why; the person was refused all the same. */
  onRefusalUnrecorded?: (error: Error, workflowId: WorkflowId) => void;
}

/**
 * Reviews in Redis. Every change is one script that compares the version first (design rule 2). Methods fail with
 * the error of Redis while it cannot be reached, and with {@link UnreadableStateError} where what is stored is of
 * another version or broken; that is never written over.
 */
export class ReviewStore implements Store {
  readonly #redis: Redis;
  readonly #onRefusalUnrecorded: NonNullable<ReviewStoreOptions['onRefusalUnrecorded']>;

  constructor(redis: Redis, { onRefusalUnrecorded = warn }: ReviewStoreOptions = {}) {
    this.#redis = redis;
    this.#onRefusalUnrecorded = onRefusalUnrecorded;
  }

  /** The public body without parsing anything; null where there is no review. */
  async readBody(workflowId: WorkflowId): Promise<StoredBody | null> {
    const { review } = reviewKeys(workflowId);
    return readBodyFields(review, await this.#redis.hmget(review, ...BODY_FIELDS));
  }

  /** State, the store's clock, and whether a feedback is in flight: all that a decision depends on. */
  async load(workflowId: WorkflowId): Promise<Loaded> {
    const keys = reviewKeys(workflowId);
    const replies = await this.#redis
      .multi()
      .time()
      .exists(keys.review)
      .hmget(keys.review, 'state', 'version', 'format', 'undelivered')
      .pttl(keys.lock)
      .lindex(keys.audit, -1)
      .exec();
    const touched = ['', keys.review, keys.review, keys.lock, keys.audit];
    const [time, exists, fields, lockMs, lastEntry] = (replies ?? []).map(([error, value], at) => {
      if (error) throw faultAt(touched[at] ?? '', error);
      return value;
    }) as [[string, string], number, (string | null)[], number, string | null];
    const [state = null, version = null, format = null, undelivered = null] = fields;
    return {
      now: millisecondsOf(time),
      state: exists === 0 ? null : readState(keys.review, { state, version, format }),
      feedbackInFlight: isLocked(keys, lockMs),
      undelivered,
      audit: headOf(keys.audit, lastEntry),
    };
  }

  /** Writes a step if the review is still at the version that it was decided on. */
  async commit(workflowId: WorkflowId, step: Step): Promise<CommitResult> {
    return commitStep(this.#redis, workflowId, step);
  }

  /**
   * Marks a decision as known to the workflow and appends `events`, which must have keys.
   * @returns true where it was undelivered until now
   */
  async acknowledge(workflowId: WorkflowId, decisionId: string, events: KeyedEvent[]): Promise<boolean> {
    const { review } = reviewKeys(workflowId);
    const { stream, meta, channel } = eventKeys(workflowId);
    const reply = await acknowledge(
      this.#redis,
      [review, stream, meta],
      [decisionId, channel, encodeAppend(events)],
    );
    return reply === 1;
  }

  /** Notes that a decision was sent to the engine, so that it is sent again less and less often. */
  async noteSent(workflowId: WorkflowId, decisionId: string, nowMs: number): Promise<void> {
    await noteSent(this.#redis, [reviewKeys(workflowId).review], [decisionId, nowMs]);
  }

  /**
   * Appends `events` if the review is open at that moment: what is said of a wait never comes after its end.
   * @returns false where it is closed or gone
   */
  async announceWhileOpen(workflowId: WorkflowId, events: KeyedEvent[]): Promise<boolean> {
    const { review } = reviewKeys(workflowId);
    const { stream, meta, channel } = eventKeys(workflowId);
    const reply = await announceOpen(this.#redis, [review, stream, meta], [channel, encodeAppend(events)]);
    return reply === 1;
  }

  /** Appends a refusal to a chain of its own, so that refusals cannot hold up a commit. */
  async recordRefusal(
    workflowId: WorkflowId,
    chain: RefusalChain,
    entry: (head: AuditHead) => AuditEntry,
  ): Promise<void> {
    const fault = await appendRefusal(this.#redis, workflowId, chain, entry);
    if (fault) this.#onRefusalUnrecorded(fault, workflowId);
  }

  /** The three chains, each oldest first; they outlive the review. */
  async audit(workflowId: WorkflowId): Promise<Record<AuditChain, AuditEntry[]>> {
    return readAudit(this.#redis, workflowId);
  }

  /** All texts that were the plan, oldest first. */
  async plans(workflowId: WorkflowId): Promise<PlanVersion[]> {
    const { plans } = reviewKeys(workflowId);
    const stored = await this.#redis.hvals(plans);
    return stored
      .map((text) => readStored(plans, () => PlanVersion.parse(JSON.parse(text))))
      .sort((a, b) => a.version - b.version);
  }

  /** What the sweep needs of many reviews, in one round trip. */
  async readOpen(workflowIds: WorkflowId[]): Promise<(OpenReview | UnreadableStateError | null)[]> {
    return readOpenReviews(this.#redis, workflowIds);
  }

  /** Lets a review go after `seconds`; its task is over and nothing of it is undelivered. */
  async expire(workflowId: WorkflowId, seconds: number): Promise<void> {
    const { review, commands, plans } = reviewKeys(workflowId);
    await Promise.all([review, commands, plans].map((key) => this.#redis.expire(key, seconds)));
  }
}

function warn(error: Error): void {
  process.emitWarning(error);
}

/** A lock always has an end: something without one would hold the review up for ever. */
function isLocked({ lock }: ReviewKeys, remainingMs: number): boolean {
  if (remainingMs === NO_EXPIRY) throw new UnreadableStateError(lock, 'a lock without an end');
  return remainingMs !== NO_KEY;
}
