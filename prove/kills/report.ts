import type { KillsResult } from './run.ts';

/** What became of the kill runs, in lines for people. */
export function reportKills({
  seed,
  runs,
  reviews,
  kills,
  ends,
  answers,
  milliseconds,
  failure,
}: KillsResult): string {
  const killed = Object.entries(kills)
    .map(([part, n]) => `${part} ${n}`)
    .join(', ');
  const ended = [...ends].map(([end, n]) => `${end} ${n}`).join(', ');
  const head = [
    `seed ${seed}: ${runs} runs with ${reviews} reviews in ${(milliseconds / 1_000).toFixed(0)} s`,
    `  killed: ${killed}`,
    `  ended: ${ended}`,
    `  actions: ${answers.done} done, ${answers.refused} refused, ${answers.away} 503, ${answers.none} without an answer`,
  ];
  if (!failure) return [...head, 'nothing was lost, doubled or left behind'].join('\n');
  const { n, script, problems } = failure;
  return [
    ...head,
    `FAILED: run ${n}: ${script.kills.map(({ part, at, away }) => `${part} killed at ${at} ms for ${away} ms`).join(', ')}`,
    ...problems.map((problem) => `  ${problem}`),
    `  again: npm run prove -- --kill --runs 1 --seed ${seed} --first ${n}`,
  ].join('\n');
}
