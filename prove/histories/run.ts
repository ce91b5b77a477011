import { seedOf } from '../random.ts';
import { type Bench, type Mutation, startBench } from './bench.ts';
import { check } from './check.ts';
import { play } from './play.ts';
import type { History } from './recording.ts';
import { type Script, scriptOf } from './script.ts';
import { shrink } from './shrink.ts';

export interface HistoriesOptions {
  seed: number;
  /** At most so many; ends earlier after `milliseconds`. */
  histories: number;
  milliseconds?: number;
  /** Number of the first one. */
  first?: number;
  /** How many are played at the same time. */
  atOnce?: number;
  mutation?: Mutation;
  /** Longest wait in milliseconds for a decision to be told; default: 30 s. */
  deliverMs?: number;
  /** Makes the script of a history from its seed; default: `scriptOf`. */
  script?: (seed: number) => Script;
  /** How often a smaller script is tried when a failure is shrunk; 0: it is not. */
  tries?: number;
  /** Told now and then how many are done. */
  onProgress?(done: number, perSecond: number): void;
}

export interface Failure {
  /** Which history of the seed. */
  n: number;
  script: Script;
  history: History;
  problems: string[];
}

export interface HistoriesResult {
  seed: number;
  histories: number;
  operations: number;
  /** Versions that were made. */
  changes: number;
  /** How often each answer came, such as `feedback 409 version_conflict`. */
  answers: Map<string, number>;
  milliseconds: number;
  failure: Failure | null;
}

const AT_ONCE = 48;
/** A race does not come in every run. */
const TRIES = 12;
const PROGRESS_MS = 5_000;

/** Plays many histories at the same time, each on a review of its own, until one fails, which is then shrunk. */
export async function proveHistories(options: HistoriesOptions): Promise<HistoriesResult> {
  const { seed, histories, milliseconds = Infinity, first = 0, atOnce = AT_ONCE, tries = TRIES } = options;
  const bench = await startBench(options.mutation, options.deliverMs);
  const began = performance.now();
  const result: HistoriesResult = {
    seed,
    histories: 0,
    operations: 0,
    changes: 0,
    answers: new Map(),
    milliseconds: 0,
    failure: null,
  };
  let next = first;
  let told = began;
  async function work(): Promise<void> {
    while (next < first + histories && !result.failure && performance.now() - began < milliseconds) {
      const n = next;
      next += 1;
      const script = (options.script ?? scriptOf)(seedOf(seed, n));
      const history = await play(bench, script);
      const problems = check(history);
      note(result, history);
      if (problems.length > 0) result.failure ??= { n, script, history, problems };
      const now = performance.now();
      if (now - told > PROGRESS_MS) {
        told = now;
        options.onProgress?.(result.histories, (result.histories * 1_000) / (now - began));
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
    result.milliseconds = performance.now() - began;
    const { failure } = result;
    if (failure && tries > 0) result.failure = { ...failure, ...(await smaller(bench, failure, tries)) };
    return result;
  } finally {
    await bench.stop();
  }
}

function smaller(bench: Bench, failure: Failure, tries: number): Promise<Omit<Failure, 'n'>> {
  return shrink(failure, tries, async (script) => {
    const history = await play(bench, script);
    return { script, history, problems: check(history) };
  });
}

function note(result: HistoriesResult, history: History): void {
  result.histories += 1;
  result.operations += history.operations.length;
  result.changes += history.last?.version ?? 0;
  for (const { kind, status, body, ended } of history.operations) {
    const name = ended === null ? `${kind} cut` : `${kind} ${status}${body?.code ? ` ${body.code}` : ''}`;
    result.answers.set(name, (result.answers.get(name) ?? 0) + 1);
  }
}
