import type { ApprovalSignal, TaskInput } from '@plangate/contracts';
import { approvalSignal } from '@plangate/contracts/signals';
import type { Decision } from '@plangate/review';
import {
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  log,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { ChosenPlan, OpenedReview, ReviewReading } from '../activities/index.ts';
import { stores } from './activities.ts';

export type Verdict =
  | { kind: 'approved'; plan: ChosenPlan }
  | { kind: 'rejected' | 'cancelled'; reason: string | undefined; by: string }
  | { kind: 'timed_out' };

/** Shares of the wait after which people are reminded. */
const REMINDERS = [0.5, 0.8];

/**
 * The durable wait for a person. Signals only wake it: the decision is read from the store, and one that has none
 * leaves the wait and its timer as they were. The deadline is a timer from the moment the review was opened; when
 * it fires the store says what is true: closed by this, decided just before, or extended, and then the difference
 * is waited (design §4, two clocks are never compared).
 */
export class ReviewWait {
  readonly #input: TaskInput;
  readonly #timeoutMs: number;
  #woken = false;
  #acted: { decision: Decision; planText: string } | null = null;

  constructor(input: TaskInput, review: NonNullable<TaskInput['review']>) {
    this.#input = input;
    this.#timeoutMs = review.timeout_seconds * 1_000;
    setHandler(defineSignal<[ApprovalSignal]>(approvalSignal(input.workflow_id)), () => {
      this.#woken = true;
    });
  }

  /** The decision that the workflow acted upon, as its history has it. */
  get acted(): { decision: Decision; planText: string } | null {
    return this.#acted;
  }

  /** Waits for the end of the review and settles the decision that ended it. */
  async verdict(opened: OpenedReview): Promise<Verdict> {
    const reading = opened.status === 'reviewing' ? await this.#wait(opened.expires_at) : await this.#read();
    const decision = reading?.decision;
    if (!reading || !decision) return { kind: 'timed_out' };
    this.#acted = { decision, planText: reading.plan };
    await stores.settle({ input: this.#input, decision, planText: reading.plan });
    if (reading.status === 'approved') {
      const { plan_sha256, by } = decision;
      return {
        kind: 'approved',
        plan: { text: reading.plan, sha256: plan_sha256, version: reading.plan_version, approved_by: by },
      };
    }
    return {
      kind: reading.status === 'rejected' ? 'rejected' : 'cancelled',
      reason: decision.reason,
      by: decision.by,
    };
  }

  async #wait(expiresAt: string): Promise<ReviewReading> {
    const reminders = new CancellationScope();
    const reminding = reminders.run(() => this.#remind()).catch(ignoreCancellation);
    try {
      return await this.#decided(expiresAt);
    } finally {
      reminders.cancel();
      await reminding;
    }
  }

  async #decided(expiresAt: string): Promise<ReviewReading> {
    let deadline = expiresAt;
    let firesAt = Date.now() + this.#timeoutMs;
    for (;;) {
      const woken = await condition(() => this.#woken, Math.max(1, firesAt - Date.now()));
      this.#woken = false;
      const reading = woken ? await this.#read() : await stores.closeReview(this.#input, deadline);
      if (reading && reading.status !== 'reviewing') return reading;
      if (woken || !reading) {
        log.warn('signal without a recorded decision');
      } else {
        firesAt += Date.parse(reading.expires_at) - Date.parse(deadline);
        deadline = reading.expires_at;
      }
    }
  }

  /** Beside the wait and with timers of its own, so that the deadline is not late because of a reminder. */
  async #remind(): Promise<void> {
    let before = Promise.resolve();
    await Promise.all(
      REMINDERS.map(async (share) => {
        await sleep(this.#timeoutMs * share);
        before = before.then(() => this.#say(share));
        await before;
      }),
    );
  }

  async #say(share: number): Promise<void> {
    for (;;) {
      const said = await stores.remind(this.#input.workflow_id, share);
      if (typeof said !== 'number') {
        // A review that is not open any more without a signal: the engine came back from older data.
        if (!said) this.#woken = true;
        return;
      }
      await sleep(said);
    }
  }

  #read(): Promise<ReviewReading | null> {
    return stores.readReview(this.#input.workflow_id);
  }
}

function ignoreCancellation(error: unknown): void {
  if (!isCancellation(error)) throw error;
}
