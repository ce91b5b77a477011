import type { CallOptions, Transport } from './http/transport.ts';
import type { SessionBody, SessionEvents, SessionHistory, SessionList, SessionTitleAnswer } from './wire.ts';

/** A part of a list. */
export interface Page {
  /** Most entries of the answer. */
  limit?: number | undefined;
  /** Entries that are passed over. */
  offset?: number | undefined;
}

/** Sessions: tasks that belong together (`contract/plan-review.md` §1). */
export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One's own sessions, the newest first. */
  async list(options: CallOptions & Page = {}): Promise<SessionList> {
    const { limit, offset } = options;
    return this.#read('/api/v1/sessions', { limit, offset }, options);
  }

  /** A session by its id. */
  async get(sessionId: string, options: CallOptions = {}): Promise<SessionBody> {
    return this.#read(pathOf(sessionId), {}, options);
  }

  /** The tasks of a session with their results, the oldest first. */
  async history(sessionId: string, options: CallOptions = {}): Promise<SessionHistory> {
    return this.#read(pathOf(sessionId, '/history'), {}, options);
  }

  /**
   * The turns of a session with what happened in each, the conversation of a review included.
   * @param options.include_payload the payloads of the events too
   */
  async events(
    sessionId: string,
    options: CallOptions & Page & { include_payload?: boolean | undefined } = {},
  ): Promise<SessionEvents> {
    const { limit, offset, include_payload } = options;
    return this.#read(pathOf(sessionId, '/events'), { limit, offset, include_payload }, options);
  }

  /** Gives a session a title of 1 to 60 characters. */
  async rename(sessionId: string, title: string, options: CallOptions = {}): Promise<SessionTitleAnswer> {
    const call = { method: 'PATCH', path: pathOf(sessionId), body: { title } } as const;
    return (await this.#transport.request<SessionTitleAnswer>(call, options)).body;
  }

  /** Deletes a session; one that is gone already is no error. */
  async delete(sessionId: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.request({ method: 'DELETE', path: pathOf(sessionId) }, options);
  }

  async #read<T>(
    path: string,
    query: Record<string, number | boolean | undefined>,
    options: CallOptions,
  ): Promise<T> {
    return (await this.#transport.request<T>({ method: 'GET', path, query }, options)).body;
  }
}

function pathOf(sessionId: string, below = ''): string {
  if (typeof sessionId !== 'string' || !/[^.]/.test(sessionId)) throw new TypeError('a session id is needed');
  return `/api/v1/sessions/${encodeURIComponent(sessionId)}${below}`;
}
