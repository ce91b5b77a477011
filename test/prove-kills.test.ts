import { expect, it } from 'vitest';
import { reportKills } from '../prove/kills/report.ts';
import { proveKills } from '../prove/kills/run.ts';

/** No further wave begins after so long. */
const KILLS_MS = 15_000;

it('reviews survive the death of any part: what was answered stands, once, and every task has its true end', {
  timeout: 150_000,
}, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const result = await proveKills({ seed, runs: 100, milliseconds: KILLS_MS, atOnce: 1 });
  if (result.failure) expect.fail(reportKills(result));
  expect(result.tally.runs).toBeGreaterThan(0);
});
