import type { ErrorBody } from '../wire.ts';
import { attempts } from './attempts.ts';
import { ConnectionError, errorOf, PlangateError, TimeoutError } from './errors.ts';
import { newIdempotencyKey } from './idempotency-key.ts';
import { withinLimit } from './within-limit.ts';

/** What the transport is made of; the client's options with their defaults filled in. */
export interface TransportOptions {
  baseUrl: string;
  /** Sent with every request. */
  credentials: () => Promise<Record<string, string>>;
  fetch: typeof globalThis.fetch;
  timeoutSeconds: number;
  maxRetries: number;
}

/** Options of one call; they win over the client's. */
export interface CallOptions {
  /** Gives the call up; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Longest wait for the answer in seconds, further attempts and the pauses between them included. */
  timeoutSeconds?: number | undefined;
  /** Further attempts after faults that pass; 0: none. */
  maxRetries?: number | undefined;
}

/** Options of a call that changes something. */
export interface ChangeOptions extends CallOptions {
  /** Names this change, so that sending it again does it once; default: a new one for each call. */
  idempotencyKey?: string | undefined;
}

/** One request of the API. */
export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

/** A success. */
export interface Answer<T> {
  body: T;
  status: number;
  headers: Headers;
}

/** Sends requests: credentials, time limit, further attempts, errors as classes. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Longest wait for one answer in seconds, where the call does not say another. */
  get timeoutSeconds(): number {
    return this.#options.timeoutSeconds;
  }

  /**
   * The answer to a call, its JSON read.
   * @throws {StatusError} where it is no success
   * @throws {ConnectionError} where there is none
   * @throws {TimeoutError} where there is none in time
   */
  async request<T>(call: Call, options: ChangeOptions = {}): Promise<Answer<T>> {
    const { timeoutSeconds = this.#options.timeoutSeconds, maxRetries = this.#options.maxRetries } = options;
    const ends = performance.now() + timeoutSeconds * 1_000;
    const late = (cause: unknown) => {
      const hint =
        call.method === 'GET' ? '' : '. It may have been done all the same: look, or send it again.';
      return new TimeoutError(`${describe(call)}: no answer within ${timeoutSeconds} s${hint}`, { cause });
    };
    return withinLimit({ signal: options.signal, timeoutSeconds }, late, async (signal) => {
      const prepared = call.method === 'POST' ? withKey(call, options.idempotencyKey) : call;
      return attempts({ maxRetries, ends, signal }, async () =>
        readAnswer<T>(prepared, await this.#send(prepared, signal)),
      );
    });
  }

  /**
   * Opens an event stream, further attempts included; the body is the caller's to read.
   * @param options.longestMs longest wait for the beginning of one answer, in milliseconds
   * @param options.maxRetries further attempts; default: the client's
   * @throws {StatusError | ConnectionError} where it cannot be opened; the reason of the signal
   */
  async open(
    call: Call,
    signal: AbortSignal,
    options: { longestMs: number; maxRetries?: number | undefined },
  ): Promise<Response> {
    const { longestMs, maxRetries = this.#options.maxRetries } = options;
    const ends = performance.now() + this.#options.timeoutSeconds * 1_000;
    return attempts({ maxRetries, ends, signal }, () =>
      this.#openOnce(call, signal, Math.min(longestMs, ends - performance.now())),
    );
  }

  async #openOnce(call: Call, signal: AbortSignal, longestMs: number): Promise<Response> {
    const timeoutSeconds = Math.max(1, Math.round(longestMs)) / 1_000;
    const late = (cause: unknown) =>
      new ConnectionError(`${describe(call)}: no answer within ${timeoutSeconds} s`, { cause });
    const headers = { Accept: 'text/event-stream', ...call.headers };
    return withinLimit({ signal, timeoutSeconds }, late, (opening) =>
      // The answer is read when the opening is over: the signal itself ends that.
      this.#send({ ...call, headers }, AbortSignal.any([signal, opening])),
    );
  }

  async #send(call: Call, signal: AbortSignal): Promise<Response> {
    const { method, body } = call;
    const headers = { Accept: 'application/json', ...(await this.#options.credentials()), ...call.headers };
    const response = await this.#fetch(call, {
      method,
      headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      redirect: 'manual',
    });
    if (response.ok) return response;
    const text = await response.text().catch(() => '');
    if (isRedirect(response)) throw redirected(call, response);
    throw errorOf({
      status: response.status,
      headers: response.headers,
      body: errorBody(text),
      request: describe(call),
    });
  }

  async #fetch(call: Call, init: RequestInit & { signal: AbortSignal }): Promise<Response> {
    try {
      return await this.#options.fetch(this.#url(call), init);
    } catch (error) {
      init.signal.throwIfAborted();
      throw new ConnectionError(
        `${describe(call)}: Plangate at ${this.#options.baseUrl} cannot be reached (${reasonOf(error)}). Start it with \`npm start\`, or check baseUrl.`,
        { cause: error },
      );
    }
  }

  #url({ path, query = {} }: Call): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) search.set(name, String(value));
    }
    return `${this.#options.baseUrl}${path}${search.size > 0 ? `?${search}` : ''}`;
  }
}

/** The same key in every attempt of one call. */
function withKey(call: Call, key: string = newIdempotencyKey()): Call {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new TypeError('idempotencyKey must have 1 to 255 visible ASCII characters');
  }
  return { ...call, headers: { ...call.headers, 'Idempotency-Key': key } };
}

async function readAnswer<T>(call: Call, response: Response): Promise<Answer<T>> {
  const { status, headers } = response;
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw new ConnectionError(
      `${describe(call)}: the connection broke off within the answer (${reasonOf(error)})`,
      { cause: error },
    );
  }
  // Only what is deleted is answered with nothing.
  if (text === '' && call.method === 'DELETE') return { body: undefined as T, status, headers };
  const body = jsonOf(text);
  if (isObject(body)) return { body: body as T, status, headers };
  const what = text === '' ? 'an empty answer' : 'no JSON object';
  throw new PlangateError(
    `${describe(call)}: HTTP ${status} with ${what}: what answers at baseUrl is not Plangate`,
  );
}

/** A page learns no more of a redirect than that it is one. */
function isRedirect({ type, status, headers }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'));
}

/**
 * Not followed: a change would arrive as a request that only reads, and count as done, and the API key would be sent
 * to wherever the redirect leads (WHATWG Fetch, "HTTP-redirect fetch").
 */
function redirected(call: Call, { headers }: Response): PlangateError {
  const to = headers.get('location');
  return new PlangateError(
    `${describe(call)}: the answer is a redirect${to === null ? '' : ` to ${to}`}, which is not followed. Set baseUrl to where the gateway is.`,
  );
}

function errorBody(text: string): ErrorBody | null {
  const body = jsonOf(text);
  if (!isObject(body)) return null;
  const { error, code } = body;
  return typeof error === 'string' && typeof code === 'string' ? { ...body, error, code } : null;
}

/** Undefined for what is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe({ method, path }: Call): string {
  return `${method} ${path}`;
}

/** The fault below what `fetch` says: `ECONNREFUSED` instead of "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause && cause.code ? String(cause.code) : cause.message;
  return error.message;
}
