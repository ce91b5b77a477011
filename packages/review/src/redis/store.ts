import { readFileSync } from 'node:fs';
import { AuditEntry, type Owner, type WorkflowId } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import { APPEND_LUA, encodeAppend, eventKeys } from '@plangate/events/redis';
import { defineScript, faultAt, millisecondsOf, readStored, UnreadableStateError } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { type AuditHead, NO_ENTRY } from '../audit.ts';
import type { Situation, Transition } from '../machine.ts';
import { PlanVersion, publicBody, ReviewState, STATE_FORMAT } from '../state.ts';
import type { IdempotencyRecord } from '../use-cases/ports.ts';
import { type ReviewKeys, reviewKeys } from './keys.ts';

const commit = defineScript('review_commit', withEvents('commit.lua'));
const acknowledge = defineScript('review_acknowledge', withEvents('acknowledge.lua'));
const announceOpen = defineScript('review_announce_open', withEvents('announce-open.lua'));
const told = defineScript('review_told', file('told.lua'));
const auditRefused = defineScript('review_audit_refused', file('audit-refused.lua'));

const AUDIT_SECONDS = 90 * 24 * 3_600;
/** Entries kept of each chain of refusals. */
const MOST_REFUSALS = { refused: 10_000, foreign: 1_000 };
/** How often an entry is made again because another refusal came first. */
const MOST_ATTEMPTS = 1_000;
/** What `PTTL` says of a key that never expires, and of one that is not there. */
const NO_EXPIRY = -1;
const NO_KEY = -2;
/** What the hot read reads. */
const BODY_FIELDS = ['body', 'body_length', 'version', 'format', 'user', 'tenant'] as const;

/** The hot read: the body as it was serialised by the commit, and what its route checks. */
export interface StoredBody {
  body: string;
  version: number;
  owner: Owner | null;
}

/** What the sweep looks at. */
export interface OpenReview {
  status: string;
  /** Deadline in milliseconds. */
  expiresAt: number;
  /** Id of the decision that the workflow has yet to learn. */
  undelivered: string | null;
  /** How often the engine was told of it, and when last, in milliseconds. */
  told: { times: number; at: number };
}

export type CommitResult =
  | { result: 'committed'; version: number }
  /** This command was applied before: its reply was lost. */
  | { result: 'repeated'; version: number }
  /** Another version stands there (0: none), or the audit has grown: decide again. */
  | { result: 'moved'; version: number }
  /** There is no review, and the task is over: none is opened any more. */
  | { result: 'over'; version: number };

/** What a decision depends on, and what the commit that follows it refers to. */
export interface Loaded extends Situation {
  /** Id of the decision that the workflow has yet to learn. */
  undelivered: string | null;
  audit: AuditHead;
}

/**
 * Reviews in Redis. Every change is one script that compares the version first (design rule 2). Methods fail with
 * the error of Redis while it cannot be reached, and with {@link UnreadableStateError} where what is stored is of
 * another version or broken; that is never written over.
 */
export class ReviewStore {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** The public body without parsing anything; null where there is no review. */
  async readBody(workflowId: WorkflowId): Promise<StoredBody | null> {
    const { review } = reviewKeys(workflowId);
    const fields = await this.#redis.hmget(review, ...BODY_FIELDS);
    if (fields.every((value) => value === null)) return null;
    const [body, length, version, format, user, tenant] = fields;
    if (format !== String(STATE_FORMAT)) throw otherFormat(review, format);
    if (!body || String(body.length) !== length || !/^[1-9]\d*$/.test(version ?? '')) {
      throw new UnreadableStateError(review, 'the body is not whole');
    }
    return { body, version: Number(version), owner: user && tenant ? { user, tenant } : null };
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
      state: exists === 0 ? null : readState(keys, { state, version, format }),
      feedbackInFlight: isLocked(keys, lockMs),
      undelivered,
      audit: headOf(keys.audit, lastEntry),
    };
  }

  /**
   * Writes a transition if the review is still at `expectedVersion` (0: does not exist yet).
   * @param commandId the same in every attempt: a commit whose reply was lost is recognised
   * @param audit the step's entry, chained to the head that was loaded
   * @param idempotency the record of the request's Idempotency-Key, written with the step
   */
  async commit(
    workflowId: WorkflowId,
    commandId: string,
    expectedVersion: number,
    transition: Transition,
    audit: AuditEntry,
    idempotency: IdempotencyRecord | null = null,
  ): Promise<CommitResult> {
    const keys = reviewKeys(workflowId);
    const events = eventKeys(workflowId);
    const { state, plan } = transition;
    const reply = (await commit(
      this.#redis,
      [
        keys.review,
        keys.commands,
        keys.plans,
        events.stream,
        events.meta,
        keys.audit,
        keys.lock,
        idempotency?.key ?? keys.review,
      ],
      [
        commandId,
        expectedVersion,
        state.version,
        events.channel,
        encodeAppend(transition.events),
        plan ? JSON.stringify(plan) : '',
        undeliveredArgument(transition),
        JSON.stringify(audit),
        audit.n - 1,
        AUDIT_SECONDS,
        idempotency?.value ?? '',
        idempotency?.ttlSeconds ?? 0,
        transition.excludesFeedback ? '1' : '0',
        ...hashFields(state),
      ],
    )) as [CommitResult['result'], string];
    return { result: reply[0], version: Number(reply[1]) };
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

  /** Notes that the engine was told of a decision, so that it is told again less and less often. */
  async noteTold(workflowId: WorkflowId, decisionId: string, nowMs: number): Promise<void> {
    await told(this.#redis, [reviewKeys(workflowId).review], [decisionId, nowMs]);
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

  /**
   * Appends a refusal to a chain of its own, so that refusals cannot hold up a commit.
   * @param chain `foreign` for somebody who is not the owner
   * @param entry made from the head of that chain, again where another refusal came first
   */
  async recordRefusal(
    workflowId: WorkflowId,
    chain: 'refused' | 'foreign',
    entry: (head: AuditHead) => AuditEntry,
  ): Promise<void> {
    const key = reviewKeys(workflowId)[chain];
    for (let n = 0; n < MOST_ATTEMPTS; n += 1) {
      const last = await this.#redis.lindex(key, -1);
      const next = JSON.stringify(entry(headOf(key, last)));
      const keep = [MOST_REFUSALS[chain], AUDIT_SECONDS];
      if ((await auditRefused(this.#redis, [key], [next, last ?? '', ...keep])) === 1) return;
    }
    throw new Error(`${key}: the chain is growing too fast`);
  }

  /** The three chains, each oldest first; they outlive the review. */
  async audit(workflowId: WorkflowId): Promise<Record<'accepted' | 'refused' | 'foreign', AuditEntry[]>> {
    const keys = reviewKeys(workflowId);
    const read = async (key: string) =>
      (await this.#redis.lrange(key, 0, -1)).map((text) => readEntry(key, text));
    const [accepted, refused, foreign] = await Promise.all([
      read(keys.audit),
      read(keys.refused),
      read(keys.foreign),
    ]);
    return { accepted, refused, foreign };
  }

  /** All texts that were the plan, oldest first. */
  async plans(workflowId: WorkflowId): Promise<PlanVersion[]> {
    const { plans } = reviewKeys(workflowId);
    const stored = await this.#redis.hvals(plans);
    return stored
      .map((text) => readStored(plans, () => PlanVersion.parse(JSON.parse(text))))
      .sort((a, b) => a.version - b.version);
  }

  /**
   * What the sweep needs of many reviews, in one round trip; null where there is none, the fault where one cannot
   * be read: the others can.
   */
  async readOpen(workflowIds: WorkflowId[]): Promise<(OpenReview | UnreadableStateError | null)[]> {
    const pipeline = this.#redis.pipeline();
    for (const id of workflowIds) {
      pipeline.hmget(reviewKeys(id).review, 'status', 'expires_ms', 'undelivered', 'told', 'told_ms');
    }
    const replies = (await pipeline.exec()) ?? [];
    return replies.map(([error, value], at) => {
      if (error) {
        const id = workflowIds[at];
        const fault = id ? faultAt(reviewKeys(id).review, error) : error;
        if (fault instanceof UnreadableStateError) return fault;
        throw fault;
      }
      const [status, expires, undelivered, times, toldMs] = value as (string | null)[];
      if (!status) return null;
      return {
        status,
        expiresAt: Number(expires),
        undelivered: undelivered ?? null,
        told: { times: Number(times ?? 0), at: Number(toldMs ?? 0) },
      };
    });
  }

  /** Lets a review go after `seconds`; its task is over and nothing of it is undelivered. */
  async expire(workflowId: WorkflowId, seconds: number): Promise<void> {
    const { review, commands, plans } = reviewKeys(workflowId);
    await Promise.all([review, commands, plans].map((key) => this.#redis.expire(key, seconds)));
  }
}

function undeliveredArgument({ undelivered, state }: Transition): string {
  if (undelivered === undefined) return '';
  return undelivered ? (state.decision?.id ?? '') : '-';
}

function hashFields(state: ReviewState): (string | number)[] {
  const body = JSON.stringify(publicBody(state));
  const fields: Record<string, string | number> = {
    format: state.format,
    version: state.version,
    state: JSON.stringify(state),
    body,
    // The hot read parses nothing: this tells it that the body is whole.
    body_length: body.length,
    status: state.status,
    expires_ms: Date.parse(state.expires_at),
    user: state.owner?.user ?? '',
    tenant: state.owner?.tenant ?? '',
  };
  return Object.entries(fields).flat();
}

function readState(
  { review }: ReviewKeys,
  { state, version, format }: Record<'state' | 'version' | 'format', string | null>,
): ReviewState {
  if (format !== String(STATE_FORMAT)) throw otherFormat(review, format);
  const read = readStored(review, () => ReviewState.parse(JSON.parse(state ?? '')));
  if (String(read.version) !== version) throw new UnreadableStateError(review, 'its versions differ');
  return read;
}

function otherFormat(key: string, format: string | null | undefined): UnreadableStateError {
  return new UnreadableStateError(key, `its format is ${format ?? 'missing'}, this is ${STATE_FORMAT}`);
}

/** A lock always has an end: something without one would hold the review up for ever. */
function isLocked({ lock }: ReviewKeys, remainingMs: number): boolean {
  if (remainingMs === NO_EXPIRY) throw new UnreadableStateError(lock, 'a lock without an end');
  return remainingMs !== NO_KEY;
}

function headOf(key: string, entry: string | null): AuditHead {
  if (entry === null) return { n: 0, hash: NO_ENTRY };
  const { n, hash } = readEntry(key, entry);
  return { n, hash };
}

function readEntry(key: string, text: string): AuditEntry {
  return readStored(key, () => AuditEntry.parse(JSON.parse(text)));
}

function file(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

function withEvents(name: string): string {
  return `${APPEND_LUA}\n${file(name)}`;
}
