import { until } from '../../test/support/until.ts';
import { seedOf } from '../random.ts';
import { type Killable, PARTS, startKillable } from './killable.ts';
import { beginEarly, type Life, live, newLife, pause } from './life.ts';
import { type ScriptedKill, type WaveScript, waveScriptOf } from './script.ts';
import { leftovers, type Settled, settle } from './settle.ts';
import { emptyTally, type Tally, tallyWave } from './tally.ts';
import type { Kill } from './verify-runs.ts';

export interface KillsOptions {
  seed: number;
  /** So many runs: lives of a review into which a kill fell. */
  runs: number;
  /** Number of the first wave, and most waves. */
  first?: number;
  waves?: number;
  /** Begins no further wave after so many. */
  milliseconds?: number;
  /** Kills one part in each wave, all of them in turn, instead of drawing one or two. */
  inTurn?: boolean;
  /** Reviews of a wave: all of them are on their way when something is killed. */
  lives?: number;
  /** How many products are killed side by side, each with waves of its own. */
  atOnce?: number;
  /** Told after every wave. */
  onWave?(line: string): void;
}

export interface KillsResult {
  seed: number;
  inTurn: boolean;
  tally: Tally;
  milliseconds: number;
  failure: { n: number; script: WaveScript; problems: string[] } | null;
}

const LIVES = 16;
const AT_ONCE = 2;
/** Longest wait in milliseconds for the event that a kill comes upon. */
const UPON_MS = 20_000;

/** Kills parts of the product while reviews are on their way, wave after wave, until one fails. */
export async function proveKills(options: KillsOptions): Promise<KillsResult> {
  const { seed, runs, first = 0, waves = Infinity, milliseconds = Infinity } = options;
  const { lives = LIVES, atOnce = AT_ONCE, inTurn = false } = options;
  const result: KillsResult = { seed, inTurn, tally: emptyTally(), milliseconds: 0, failure: null };
  const { tally } = result;
  let next = first;
  let began = 0;
  const goesOn = () =>
    !result.failure && tally.runs < runs && next < first + waves && performance.now() - began < milliseconds;

  async function work(product: Killable): Promise<void> {
    while (goesOn()) {
      const n = next;
      next += 1;
      const started = performance.now();
      const only = inTurn ? PARTS[n % PARTS.length] : undefined;
      const script = waveScriptOf(seedOf(seed, n), lives, only);
      const { settled, kills, problems } = await playWave(product, script);
      const hit = tallyWave(tally, settled, kills);
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      const failed = problems.length > 0 ? ', FAILED' : '';
      options.onWave?.(
        `wave ${n}: ${describeKills(script)}: ${hit} of ${lives} lives hit, ${seconds} s${failed}`,
      );
      if (problems.length > 0) result.failure ??= { n, script, problems };
    }
  }

  const products = await startAll(Math.min(atOnce, waves));
  try {
    began = performance.now();
    await Promise.all(products.map(work));
    result.milliseconds = performance.now() - began;
    return result;
  } finally {
    await Promise.all(products.map((product) => product.stop()));
  }
}

/** Which parts are killed when, in words. */
export function describeKills({ kills }: WaveScript): string {
  const when = ({ at, upon }: ScriptedKill) =>
    upon ? `${upon.after} ms after ${upon.nth}. ${upon.type}` : `at ${at} ms`;
  return kills.map((kill) => `${kill.part} ${when(kill)} for ${kill.away} ms`).join(', ');
}

/** All lives of a wave with the kills in their midst, and what became of them. */
export async function playWave(
  product: Killable,
  script: WaveScript,
): Promise<{ settled: Settled[]; kills: Kill[]; problems: string[] }> {
  const lives = script.lives.map(newLife);
  await Promise.all(lives.map((life) => beginEarly(product, life)));
  const beginning = Date.now();
  const [kills] = await Promise.all([
    Promise.all(script.kills.map((kill) => killAndRestart(product, kill, lives))),
    Promise.all(lives.map((life) => live(product, life, beginning))),
  ]);
  const settled = await Promise.all(lives.map((life) => settle(product, life, kills)));
  const problems = [...settled.flatMap((one) => one.problems), ...(await leftovers(product))];
  product.model.forget(new Set(lives.map(({ query }) => query)));
  return { settled, kills, problems };
}

async function killAndRestart(
  product: Killable,
  { part, at, upon, away }: ScriptedKill,
  lives: Life[],
): Promise<Kill> {
  if (upon) {
    const isTold = () => eventsOf(lives, upon.type) >= upon.nth;
    // Where it does not come at all, any moment is as good.
    await until(isTold, UPON_MS, 10).catch(() => undefined);
    await pause(upon.after);
  } else await pause(at);
  const killed = Date.now();
  await product.kill(part);
  await pause(away);
  await product.restart(part);
  return { part, at: killed, back: Date.now() };
}

function eventsOf(lives: Life[], type: string): number {
  const told = lives.flatMap(({ following }) => following?.events ?? []);
  // The report comes in the shape of a chat completion, and is the only event that names no type.
  return told.filter((event) => (event.type ?? 'LLM_OUTPUT') === type).length;
}

async function startAll(count: number): Promise<Killable[]> {
  const started = await Promise.allSettled(Array.from({ length: count }, startKillable));
  const failed = started.find((one) => one.status === 'rejected');
  const products = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (!failed) return products;
  await Promise.all(products.map((product) => product.stop()));
  throw failed.reason;
}
