import type { CancelSignal, PauseSignal } from '@plangate/contracts';
import { CANCEL_SIGNAL, PAUSE_SIGNAL, RESUME_SIGNAL } from '@plangate/contracts/signals';
import { CancellationScope, condition, defineSignal, setHandler, Trigger } from '@temporalio/workflow';
import { stores } from './activities.ts';

export const pauseSignal = defineSignal<[PauseSignal]>(PAUSE_SIGNAL);
export const resumeSignal = defineSignal<[PauseSignal]>(RESUME_SIGNAL);
export const cancelSignal = defineSignal<[CancelSignal]>(CANCEL_SIGNAL);

/**
 * Pause, resume and cancel of one task. Made before the first await of its workflow, so that an early signal is
 * not lost. A pause lets the work that runs finish and starts none; a cancel ends every wait, the paused one too.
 */
export class TaskControl {
  readonly #workflowId: string;
  #paused = false;
  #running = 0;
  #changes = 0;
  readonly #begun = new Trigger<void>();
  #recorded: Promise<void> = Promise.resolve(this.#begun);
  #cancelled: CancelSignal | null = null;
  #scope: CancellationScope | null = null;

  constructor(workflowId: string) {
    this.#workflowId = workflowId;
    setHandler(pauseSignal, (signal) => this.#change(true, signal));
    setHandler(resumeSignal, (signal) => this.#change(false, signal));
    setHandler(cancelSignal, (signal) => {
      this.#cancelled ??= signal;
      this.#scope?.cancel();
    });
  }

  /** The cancel that a person asked for; null: none, or the engine itself cancelled the run. */
  get cancelled(): CancelSignal | null {
    return this.#cancelled;
  }

  /** Runs `work` in a scope that a cancel ends. */
  async cancellable<T>(work: () => Promise<T>): Promise<T> {
    const scope = new CancellationScope({ cancellable: true });
    this.#scope = scope;
    if (this.#cancelled) scope.cancel();
    return scope.run(work);
  }

  /** The start of the task is announced, or never will be: from now on its changes are recorded. */
  begun(): void {
    this.#begun.resolve();
  }

  /** Does one step of the work, as soon as the task is not paused and the record says so. */
  async step<T>(work: () => Promise<T>): Promise<T> {
    do {
      await condition(() => !this.#paused);
      await this.#recorded;
    } while (this.#paused);
    return this.during(work);
  }

  /** Does work that a pause does not hold back, but waits for: the task is paused when nothing of it runs. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  /** Signals may come faster than they are recorded: they are recorded one after the other, in their order. */
  #change(paused: boolean, signal: PauseSignal): Promise<void> {
    if (paused === this.#paused) return this.#recorded;
    this.#paused = paused;
    this.#changes += 1;
    const change = { workflowId: this.#workflowId, number: this.#changes, ...signal };
    this.#recorded = this.#recorded.then(() =>
      CancellationScope.nonCancellable(() =>
        paused ? this.#recordPause(change) : stores.recordResume(change),
      ),
    );
    return this.#recorded;
  }

  async #recordPause(change: { workflowId: string; number: number } & PauseSignal): Promise<void> {
    await stores.recordPause(change);
    const { number } = change;
    await condition(() => this.#running === 0 || this.#changes > number || this.#cancelled !== null);
    if (this.#paused && this.#changes === number) await stores.announcePaused(change);
  }
}
