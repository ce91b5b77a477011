import { Events } from './events.ts';
import { limitMs } from './http/timer.ts';
import { Transport } from './http/transport.ts';
import { Reviews } from './review.ts';
import { Sessions } from './sessions.ts';
import { Tasks } from './tasks.ts';

/** Options of a client. */
export interface PlangateOptions {
  /** Where the gateway is; default `http://localhost:8080`. */
  baseUrl?: string | undefined;
  /** An API key, sent as `X-API-Key`. */
  apiKey?: string | undefined;
  /** A bearer token, or what gets one anew for every request. */
  token?: string | (() => string | Promise<string>) | undefined;
  /** Default: the one of the platform. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Longest wait for an answer in seconds, further attempts included; default 120, as a model may take 60. */
  timeoutSeconds?: number | undefined;
  /** Further attempts after 429, 503 and broken connections; default 2. */
  maxRetries?: number | undefined;
}

/**
 * A client of Plangate.
 *
 * ```ts
 * const plangate = new Plangate({ baseUrl: 'http://localhost:8080' });
 * const task = await plangate.tasks.submit({ query: '…', context: { require_review: true } });
 * const plan = await plangate.review.waitUntilReady(task);
 * await plangate.review.approve(plan);
 * const { result } = await plangate.tasks.wait(task);
 * ```
 */
export class Plangate {
  /** Submits, reads, waits for and controls tasks. */
  readonly tasks: Tasks;
  /** Reads plans and decides on them. */
  readonly review: Reviews;
  /** Follows tasks live. */
  readonly events: Events;
  /** Reads and keeps order in sessions. */
  readonly sessions: Sessions;

  /** @throws {TypeError} where an option cannot be right */
  constructor(options: PlangateOptions = {}) {
    const { timeoutSeconds = 120, maxRetries = 2, fetch = globalThis.fetch } = options;
    limitMs('timeoutSeconds', timeoutSeconds);
    if (!Number.isInteger(maxRetries) || maxRetries < 0) {
      throw new TypeError('maxRetries must be a whole number from 0');
    }
    const transport = new Transport({
      baseUrl: readBaseUrl(options.baseUrl),
      credentials: credentialsOf(options),
      // Called on its own: browsers refuse a `fetch` that belongs to another object.
      fetch: (...args) => fetch(...args),
      timeoutSeconds,
      maxRetries,
    });
    this.events = new Events(transport);
    this.tasks = new Tasks(transport, this.events);
    this.review = new Reviews(transport);
    this.sessions = new Sessions(transport);
  }
}

function readBaseUrl(given = 'http://localhost:8080'): string {
  if (!/^https?:\/\/[^?#\s]+$/i.test(given) || !URL.canParse(given)) {
    throw new TypeError(`baseUrl is no address: "${given}"; one is http://localhost:8080`);
  }
  // Not shown: it may hold a password. `fetch` takes no such address.
  const { username, password } = new URL(given);
  if (username || password)
    throw new TypeError('baseUrl must not hold a user or password; pass apiKey or token');
  return given.replace(/\/+$/, '');
}

/** Header values are checked here, as `fetch` would show them in its error. */
function credentialsOf({ apiKey, token }: PlangateOptions): () => Promise<Record<string, string>> {
  if (apiKey && token) throw new TypeError('pass apiKey or token, not both');
  if (apiKey) {
    if (!isHeaderValue(apiKey)) throw new TypeError('apiKey has characters that no key has');
    return async () => ({ 'X-API-Key': apiKey });
  }
  if (!token) return async () => ({});
  return async () => {
    const value = typeof token === 'string' ? token : await token();
    if (!isHeaderValue(value)) throw new TypeError('token has characters that no token has');
    return { Authorization: `Bearer ${value}` };
  };
}

function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
