import { randomUUID } from 'node:crypto';
import { isRedisUnavailable } from '@plangate/redis';
import { HttpError } from '../errors.ts';
import type { Reply } from '../reply.ts';
import {
  type Finished,
  type IdempotencyState,
  type Reservation,
  readIdempotencyState,
  readReservation,
} from './record.ts';
import type { KeyedRequest } from './request.ts';
import type { IdempotencyStore } from './store.ts';

/** How long a finished answer is kept, in milliseconds (`contract/plan-review.md` §0). */
const KEEP_MS = 24 * 60 * 60 * 1_000;
/** Lifetime of the marker of a running request, which is renewed at a third of it, in milliseconds. */
const MARKER_MS = 30_000;
const RETRY_AFTER_SECONDS = '2';
/** On an answer that was given before. */
const CACHED = { 'X-Idempotency-Cached': 'true' };

export interface OnceOptions {
  store: IdempotencyStore;
  /** Null: the request has no Idempotency-Key and is simply answered. */
  request: KeyedRequest | null;
  /** The name of the record in the store. Default: `idem:<hash>`. */
  keyOf?: (hash: string) => string;
  /**
   * Builds the answer to a repeated request from what was kept, for an answer that depends on what has become of it
   * since. Null: it does not hold any more, so the request is worked on as a new one. Default: the answer as it was.
   */
  replay?: (finished: Finished) => Promise<Reply | null>;
  /** Told of faults in keeping an answer; the answer itself is given all the same. */
  onFault: (error: unknown) => void;
  markerMs?: number;
}

/** An answer that is kept. */
export interface KeptReply extends Reply {
  /** Where the answer depends on what becomes of a decision: its id. */
  decisionId?: string;
}

/** What the work of a request with an Idempotency-Key may do with its record. */
export interface Ticket {
  /**
   * The record of a finished answer, for a script that writes it with its own change: then no crash between change
   * and answer loses it. Null where the request has no key.
   */
  record(reply: KeptReply): { key: string; value: string; ttlSeconds: number } | null;
  /**
   * A name that outlives a failed or lost attempt: the same for every attempt with this key and this body.
   * @param propose makes the name where none is reserved; what it throws is thrown, and nothing is reserved
   */
  reserve(propose: () => string | Promise<string>): Promise<string>;
  /** Puts another name in the place of a reserved one that is used up. */
  reserveAnew(name: string): Promise<void>;
}

/**
 * Answers a request with an Idempotency-Key at most once: a finished 2xx is given again to whoever repeats it within
 * 24 h, the same key with another body is 422, and 409 while the first is running. Answers other than 2xx are not
 * kept (`contract/plan-review.md` §0).
 * @param work what the request does; runs to its end whether or not its client is still there
 * @throws {HttpError} 409, 422, and whatever `work` throws
 */
export async function answerOnce(
  options: OnceOptions,
  work: (ticket: Ticket) => Promise<KeptReply>,
): Promise<Reply> {
  const { store, request, onFault, keyOf = (hash) => `idem:{${hash}}`, markerMs = MARKER_MS } = options;
  if (!request) return work(NO_TICKET);
  const key = keyOf(request.hash);
  const marker = JSON.stringify({
    kind: 'running',
    token: randomUUID(),
    body_sha256: request.bodySha256,
  } satisfies IdempotencyState);

  const repeated = await take(options, request, key, marker, markerMs).catch((error: unknown) => {
    // A store that only stalls sets the marker once it goes on: it hears right after that nobody stands behind it.
    if (isRedisUnavailable(error)) void store.swap(key, marker, null, markerMs).catch(() => {});
    throw error;
  });
  if (repeated) return repeated;
  const renewal = setInterval(() => {
    store.swap(key, marker, marker, markerMs).catch(onFault);
  }, markerMs / 3);
  renewal.unref();
  let finished: string | null = null;
  let isStoreAway = false;
  try {
    const reply = await work(ticketOf(store, request, key));
    if (isSuccess(reply)) finished = encode(request, reply);
    return reply;
  } catch (error) {
    isStoreAway = isRedisUnavailable(error);
    throw error;
  } finally {
    clearInterval(renewal);
    const kept = keep(store, key, marker, finished).catch(onFault);
    // Nobody waits twice for a store that is away.
    if (!isStoreAway) await kept;
  }
}

/** Where a script has written the record with its own change, that one stands. */
async function keep(
  store: IdempotencyStore,
  key: string,
  marker: string,
  finished: string | null,
): Promise<void> {
  const swapped = await store.swap(key, marker, finished, KEEP_MS);
  // The marker has run out while the store was away.
  if (!swapped && finished !== null) await store.take(key, finished, KEEP_MS);
}

/** Null: the marker stands, and the request is to be worked on. */
async function take(
  { store, replay }: OnceOptions,
  request: KeyedRequest,
  key: string,
  marker: string,
  markerMs: number,
): Promise<Reply | null> {
  const found = await store.take(key, marker, markerMs);
  if (found === null) return null;
  const state = readIdempotencyState(key, found);
  if (state.body_sha256 !== request.bodySha256) {
    throw new HttpError(422, 'idempotency_mismatch', 'Idempotency-Key was used with another request body');
  }
  if (state.kind === 'running') throw stillRunning();
  const reply = replay ? await replay(state) : state.reply;
  if (reply) return { ...reply, headers: { ...reply.headers, ...CACHED } };
  const taken =
    (await store.swap(key, found, marker, markerMs)) ||
    // Whoever took the decision back has removed its record.
    (await store.take(key, marker, markerMs)) === null;
  if (taken) return null;
  throw stillRunning();
}

function ticketOf(store: IdempotencyStore, request: KeyedRequest, key: string): Ticket {
  const reservation = `${key}:reserved`;
  const reserved = (name: string) =>
    JSON.stringify({ body_sha256: request.bodySha256, name } satisfies Reservation);
  return {
    record: (reply) => ({ key, value: encode(request, reply), ttlSeconds: KEEP_MS / 1_000 }),
    async reserve(propose) {
      const found = nameOf(reservation, await store.read(reservation), request);
      if (found !== null) return found;
      const name = await propose();
      await store.write(reservation, reserved(name), KEEP_MS);
      return name;
    },
    reserveAnew: (name) => store.write(reservation, reserved(name), KEEP_MS),
  };
}

/** The reserved name; one that was reserved for another body is nobody's any more. */
function nameOf(key: string, text: string | null, request: KeyedRequest): string | null {
  if (text === null) return null;
  const { body_sha256, name } = readReservation(key, text);
  return body_sha256 === request.bodySha256 ? name : null;
}

const NO_TICKET: Ticket = {
  record: () => null,
  reserve: async (propose) => propose(),
  reserveAnew: async () => {},
};

function encode(request: KeyedRequest, { status, body, headers = {}, decisionId }: KeptReply): string {
  const finished: Finished = {
    kind: 'finished',
    body_sha256: request.bodySha256,
    reply: { status, headers, body },
    ...(decisionId === undefined ? {} : { decision_id: decisionId }),
  };
  return JSON.stringify(finished);
}

function isSuccess({ status }: Reply): boolean {
  return status >= 200 && status < 300;
}

function stillRunning(): HttpError {
  return new HttpError(409, 'idempotency_running', 'A request with this Idempotency-Key is still running', {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
}
