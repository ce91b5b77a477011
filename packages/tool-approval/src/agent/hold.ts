import type { Checkpointer } from '../checkpoint/checkpointer.ts';
import { TurnRunningError } from '../errors.ts';
import { readThreadState } from '../state/read.ts';
import { newThread, type ThreadState } from '../state/thread-state.ts';

/** Most times that a thread is read again because somebody else changed it meanwhile. */
const MOST_ATTEMPTS = 20;
/** Renewals within the time for which a thread is held. */
const RENEWALS = 3;

export interface HoldOptions {
  checkpointer: Checkpointer;
  threadId: string;
  /** Milliseconds after which a driver that is silent counts as dead. */
  holdMs: number;
  newId: () => string;
}

/** The thread went to another driver, because this one was silent for too long; what it found out is not kept. */
export class TurnLostError extends Error {
  override readonly name = 'TurnLostError';
  constructor() {
    super('the turn was taken over: this process was silent for too long');
  }
}

/** The state of a thread, and who holds it. */
export async function lookAt(checkpointer: Checkpointer, threadId: string) {
  const kept = await checkpointer.load(threadId);
  return {
    revision: kept?.revision ?? null,
    held: (kept?.heldMs ?? 0) > 0,
    state: kept ? readThreadState(kept.state) : newThread(),
  };
}

/**
 * Takes the thread for one turn, with the first change of it in the same atomic step.
 * @param change the first state of the turn; what it throws is thrown, and nothing has changed
 * @throws {TurnRunningError} while another driver holds the thread
 */
export async function takeThread(
  options: HoldOptions,
  asked: 'chat' | 'review',
  change: (state: ThreadState) => ThreadState,
): Promise<ThreadHold> {
  const { checkpointer, threadId, holdMs, newId } = options;
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const { revision: expected, held, state } = await lookAt(checkpointer, threadId);
    if (held) throw new TurnRunningError(asked);
    const first = change(state);
    const revision = newId();
    const step = { expected, revision, state: JSON.stringify(first), holdMs };
    if (await checkpointer.save(threadId, step)) return new ThreadHold(options, revision, first);
  }
  throw new TurnRunningError(asked);
}

/** A thread that this driver alone may change, until it lets go or is silent for too long. */
export class ThreadHold {
  #state: ThreadState;
  #revision: string;
  #lost = false;
  #released = false;
  #saving: Promise<unknown> = Promise.resolve();
  readonly #options: HoldOptions;

  constructor(options: HoldOptions, revision: string, state: ThreadState) {
    this.#options = options;
    this.#revision = revision;
    this.#state = state;
  }

  get state(): ThreadState {
    return this.#state;
  }

  /** Keeps the next state. @throws {TurnLostError} where the thread has gone to another driver */
  async keep(state: ThreadState): Promise<void> {
    await this.#save(state, this.#options.holdMs);
  }

  /** Keeps the last state of a turn and lets the thread go, in one step: nobody waits for a driver that is done. */
  async keepAndRelease(state: ThreadState): Promise<void> {
    await this.#save(state, 0);
    this.#released = true;
  }

  /** Lets the thread go as it is, where that has not happened yet. */
  async release(): Promise<void> {
    if (!this.#released) await this.#save(undefined, 0);
    this.#released = true;
  }

  /** Waits for slow work and shows meanwhile that this driver is alive. */
  async during<T>(work: Promise<T>): Promise<T> {
    const renewal = setInterval(() => this.#renew(), this.#options.holdMs / RENEWALS);
    try {
      return await work;
    } finally {
      clearInterval(renewal);
    }
  }

  /** A store that is away for a moment is no reason to stop: the next save will tell. */
  #renew(): void {
    this.#save(undefined, this.#options.holdMs).catch(() => {});
  }

  /** One save after the other, because each names the revision before it. Without a next state, the one kept last. */
  #save(next: ThreadState | undefined, holdMs: number): Promise<void> {
    const saved = this.#saving.then(async () => {
      const { checkpointer, threadId, newId } = this.#options;
      if (this.#lost) throw new TurnLostError();
      const state = next ?? this.#state;
      const expected = this.#revision;
      const revision = newId();
      const step = { expected, revision, state: JSON.stringify(state), holdMs };
      this.#lost = !(await checkpointer.save(threadId, step));
      if (this.#lost) throw new TurnLostError();
      this.#revision = revision;
      this.#state = state;
    });
    this.#saving = saved.catch(() => {});
    return saved;
  }
}
