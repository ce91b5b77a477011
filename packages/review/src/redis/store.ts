import { readFileSync } from 'node:fs';
import { AuditEntry, type Owner, type WorkflowId } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import { APPEND_LUA, encodeAppend, eventKeys } from '@plangate/events/redis';
import { defineScript } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { type AuditHead, NO_ENTRY } from '../audit.ts';
import type { Situation, Transition } from '../machine.ts';
import { PlanVersion, publicBody, ReviewState } from '../state.ts';
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

/** What is under a review's key is not a review that this version of the code can read; nothing is written over it. */
export class UnreadableReviewError extends Error {
  override readonly name = 'UnreadableReviewError';
  constructor(key: string, reason: string) {
    super(`${key}: ${reason}`);
  }
}

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

/** A record that is written with the commit, so that a crash between commit and answer cannot lose it. */
export interface IdempotencyRecord {
  key: string;
  value: string;
  ttlSeconds: number;
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

/** Reviews in Redis. Every change is one script that compares the version first (design rule 2). */
export class ReviewStore {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** The public body without parsing anything; null where there is no review. */
  async readBody(workflowId: WorkflowId): Promise<StoredBody | null> {
    const { review } = reviewKeys(workflowId);
    const [body, version, user, tenant] = await this.#redis.hmget(
      review,
      'body',
      'version',
      'user',
      'tenant',
    );
    if (typeof body !== 'string' || typeof version !== 'string') return null;
    return { body, version: Number(version), owner: user && tenant ? { user, tenant } : null };
  }

  /** State, the store's clock, and whether a feedback is in flight: all that a decision depends on. */
  async load(workflowId: WorkflowId): Promise<Loaded> {
    const keys = reviewKeys(workflowId);
    const replies = await this.#redis
      .multi()
      .time()
      .hmget(keys.review, 'state', 'undelivered')
      .exists(keys.lock)
      .lindex(keys.audit, -1)
      .exec();
    const [time, fields, locked, lastEntry] = (replies ?? []).map(([error, value]) => {
      if (error) throw error;
      return value;
    }) as [[string, string], [string | null, string | null], number, string | null];
    const [state, undelivered] = fields;
    return {
      now: Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000),
      state: state === null ? null : readState(keys, state),
      feedbackInFlight: locked === 1,
      undelivered,
      audit: headOf(lastEntry),
    };
  }

  /**
   * Writes a transition if the review is still at `expectedVersion` (0: does not exist yet).
   * @param commandId the same in every attempt: a commit whose reply was lost is recognised
   * @param audit the step's entry, chained to the head that was loaded
   */
  async commit(
    workflowId: WorkflowId,
    commandId: string,
    expectedVersion: number,
    transition: Transition,
    audit: AuditEntry,
    idempotency?: IdempotencyRecord,
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
      const next = JSON.stringify(entry(headOf(last)));
      const keep = [MOST_REFUSALS[chain], AUDIT_SECONDS];
      if ((await auditRefused(this.#redis, [key], [next, last ?? '', ...keep])) === 1) return;
    }
    throw new Error(`${key}: the chain is growing too fast`);
  }

  /** The three chains, each oldest first; they outlive the review. */
  async audit(workflowId: WorkflowId): Promise<Record<'accepted' | 'refused' | 'foreign', AuditEntry[]>> {
    const keys = reviewKeys(workflowId);
    const read = async (key: string) =>
      (await this.#redis.lrange(key, 0, -1)).map((text) => AuditEntry.parse(JSON.parse(text)));
    const [accepted, refused, foreign] = await Promise.all([
      read(keys.audit),
      read(keys.refused),
      read(keys.foreign),
    ]);
    return { accepted, refused, foreign };
  }

  /** All texts that were the plan, oldest first. */
  async plans(workflowId: WorkflowId): Promise<PlanVersion[]> {
    const stored = await this.#redis.hvals(reviewKeys(workflowId).plans);
    return stored.map((text) => PlanVersion.parse(JSON.parse(text))).sort((a, b) => a.version - b.version);
  }

  /** What the sweep needs of many reviews, in one round trip; null where there is none. */
  async readOpen(workflowIds: WorkflowId[]): Promise<(OpenReview | null)[]> {
    const pipeline = this.#redis.pipeline();
    for (const id of workflowIds) {
      pipeline.hmget(reviewKeys(id).review, 'status', 'expires_ms', 'undelivered', 'told', 'told_ms');
    }
    const replies = (await pipeline.exec()) ?? [];
    return replies.map(([error, value]) => {
      if (error) throw error;
      const [status, expires, undelivered, times, at] = value as (string | null)[];
      if (!status) return null;
      return {
        status,
        expiresAt: Number(expires),
        undelivered: undelivered ?? null,
        told: { times: Number(times ?? 0), at: Number(at ?? 0) },
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
  const fields: Record<string, string | number> = {
    version: state.version,
    state: JSON.stringify(state),
    body: JSON.stringify(publicBody(state)),
    status: state.status,
    expires_ms: Date.parse(state.expires_at),
    user: state.owner?.user ?? '',
    tenant: state.owner?.tenant ?? '',
  };
  return Object.entries(fields).flat();
}

function readState(keys: ReviewKeys, text: string): ReviewState {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnreadableReviewError(keys.review, 'the state is not JSON');
  }
  const parsed = ReviewState.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UnreadableReviewError(keys.review, `${issue?.path.join('.')}: ${issue?.message}`);
}

function headOf(entry: string | null): AuditHead {
  if (entry === null) return { n: 0, hash: NO_ENTRY };
  const { n, hash } = AuditEntry.parse(JSON.parse(entry));
  return { n, hash };
}

function file(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

function withEvents(name: string): string {
  return `${APPEND_LUA}\n${file(name)}`;
}
