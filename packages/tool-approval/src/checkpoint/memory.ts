import type { Checkpoint, Checkpointer, CheckpointSave } from './checkpointer.ts';

interface Kept {
  revision: string;
  state: string;
  heldUntil: number;
}

/** Keeps threads in this process: they end with it. */
export class MemoryCheckpointer implements Checkpointer {
  readonly #threads = new Map<string, Kept>();
  readonly #now: () => number;

  /** @param now a clock in milliseconds that never goes back */
  constructor({ now = () => performance.now() }: { now?: () => number } = {}) {
    this.#now = now;
  }

  async load(threadId: string): Promise<Checkpoint | null> {
    const kept = this.#threads.get(threadId);
    if (!kept) return null;
    const { revision, state, heldUntil } = kept;
    return { revision, state, heldMs: Math.max(0, heldUntil - this.#now()) };
  }

  async save(threadId: string, { expected, revision, state, holdMs }: CheckpointSave): Promise<boolean> {
    const current = this.#threads.get(threadId)?.revision ?? null;
    if (current === revision) return true;
    if (current !== expected) return false;
    this.#threads.set(threadId, { revision, state, heldUntil: holdMs > 0 ? this.#now() + holdMs : 0 });
    return true;
  }

  /** Forgets a thread. */
  delete(threadId: string): void {
    this.#threads.delete(threadId);
  }
}
