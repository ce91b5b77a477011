/** Random numbers that a seed makes again. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** One of the names, each as often as its weight says. */
  weighted<T extends string>(weights: Record<T, number>): T;
}

/** The generator `mulberry32`: 32 bits of state, enough to spread scripts, and the same on every machine. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick<T>(choices: readonly T[]): T {
      return choices[int(0, choices.length - 1)] as T;
    },
    weighted<T extends string>(weights: Record<T, number>): T {
      const entries = Object.entries(weights) as [T, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      return (entries.at(-1) as [T, number])[0];
    },
  };
}

/** The seed of the `n`-th of many: neighbours have nothing in common. */
export function seedOf(seed: number, n: number): number {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
