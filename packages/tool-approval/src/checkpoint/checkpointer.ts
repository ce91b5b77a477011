/** A thread as it is kept. */
export interface Checkpoint {
  /** Another one after every save. */
  revision: string;
  /** `ThreadState` as JSON text. */
  state: string;
  /** Milliseconds, by the store's clock, for which a driver still holds the thread; 0 where none does. */
  heldMs: number;
}

export interface CheckpointSave {
  /** The revision that must stand there now; null: the thread must not exist. */
  expected: string | null;
  /** The new one, chosen by the driver: a save that is repeated because its reply was lost is known by it. */
  revision: string;
  state: string;
  /** How long the thread is held from now on, in milliseconds; 0 frees it. */
  holdMs: number;
}

/** Where threads are kept. One value for each thread, and one compare-and-set on it: the only way to change it. */
export interface Checkpointer {
  load(threadId: string): Promise<Checkpoint | null>;
  /** False, and nothing has changed, where another revision stands there. */
  save(threadId: string, save: CheckpointSave): Promise<boolean>;
}
