import { PARTS } from './killable.ts';
import { describeKills, type KillsResult } from './run.ts';
import { STAGES } from './stage.ts';

/** What became of the kill runs, in lines for people. */
export function reportKills({ seed, inTurn, tally, milliseconds, failure }: KillsResult): string {
  const { waves, lives, kills, runs, hits, ends, answers } = tally;
  const killed = PARTS.map((part) => `${part} ${kills[part]}`).join(', ');
  const seconds = milliseconds / 1_000;
  const head = [
    `seed ${seed}: ${runs} runs (lives of a review that a kill fell into) of ${lives} lives in ${waves} waves, ` +
      `${seconds.toFixed(0)} s (${(runs / seconds).toFixed(2)} runs/s)`,
    `  kills: ${Object.values(kills).reduce((sum, n) => sum + n, 0)} (${killed})`,
    '  lives that a kill fell into, by stage:',
    ...STAGES.map(
      (stage) => `    ${stage}: ${PARTS.map((part) => `${part} ${hits[part][stage]}`).join(', ')}`,
    ),
    `  reviews ended: ${[...ends].map(([end, n]) => `${end} ${n}`).join(', ')}`,
    `  actions: ${answers.done} done, ${answers.refused} refused, ${answers.away} 503, ${answers.none} without an answer`,
  ];
  if (!failure) return [...head, 'nothing was lost, doubled or left behind'].join('\n');
  const { n, script, problems } = failure;
  return [
    ...head,
    `FAILED: wave ${n}: killed ${describeKills(script)}`,
    ...problems.map((problem) => `  ${problem}`),
    `  again: npm run prove -- --kill --waves 1 --seed ${seed} --first ${n}${inTurn ? ' --in-turn' : ''}`,
  ].join('\n');
}
