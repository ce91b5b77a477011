import { expect, it } from 'vitest';
import { PARTS } from '../prove/kills/killable.ts';
import { reportKills } from '../prove/kills/report.ts';
import { proveKills } from '../prove/kills/run.ts';

it('reviews survive the death of each part: what was answered stands, once, and every task has its true end', {
  timeout: 300_000,
}, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const result = await proveKills({ seed, runs: Infinity, waves: PARTS.length, atOnce: 1, inTurn: true });
  if (result.failure) expect.fail(reportKills(result));
  for (const part of PARTS) {
    const hit = Object.values(result.tally.hits[part]).reduce((sum, lives) => sum + lives, 0);
    expect([part, result.tally.kills[part], hit > 0]).toEqual([part, 1, true]);
  }
});
