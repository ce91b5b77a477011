/** What happens in one kill run, made from a seed alone. */
import { randomOf } from '../random.ts';
import { PARTS, type Part } from './killable.ts';

export type Kind = 'feedback' | 'edit' | 'approve' | 'reject' | 'extend' | 'cancel';

export interface ScriptedAction {
  /** Milliseconds before it. */
  wait: number;
  kind: Kind;
  /** Sends the version that was seen as If-Match. */
  bound: boolean;
}

export interface ScriptedReview {
  /** Seconds of the review; null: long enough. */
  timeoutSeconds: number | null;
  /** Milliseconds that the model takes for each plan. */
  modelDelay: number;
  /** People who act on it at the same time. */
  people: ScriptedAction[][];
}

export interface KillScript {
  seed: number;
  reviews: ScriptedReview[];
  /** Each part is killed at a moment and started again some time later, in milliseconds. */
  kills: { part: Part; at: number; away: number }[];
}

const WEIGHTS: Record<Kind, number> = { feedback: 6, edit: 3, approve: 4, reject: 1, extend: 2, cancel: 1 };
/** Actions and kills are spread over so many milliseconds. */
const SPAN_MS = 2_500;

export function killScriptOf(seed: number, reviews: number): KillScript {
  const random = randomOf(seed);
  const parts = random.chance(0.35)
    ? PARTS.toSorted(() => random.next() - 0.5).slice(0, 2)
    : [random.pick(PARTS)];
  return {
    seed,
    reviews: Array.from({ length: reviews }, () => ({
      timeoutSeconds: random.chance(0.15) ? random.int(2, 6) : null,
      modelDelay: random.pick([0, 50, 300, 900]),
      people: Array.from({ length: random.int(1, 3) }, () =>
        Array.from({ length: random.int(1, 4) }, () => ({
          wait: random.int(0, SPAN_MS / 2),
          kind: random.weighted(WEIGHTS),
          bound: random.chance(0.75),
        })),
      ),
    })),
    kills: parts.map((part) => ({
      part,
      at: random.int(0, SPAN_MS),
      away: random.chance(0.5) ? 0 : random.int(100, 2_000),
    })),
  };
}
