import type { Recorded } from './recording.ts';
import type { Failure, HistoriesResult } from './run.ts';

/** What became of a run, in lines for people. */
export function reportHistories(result: HistoriesResult): string {
  const { seed, histories, operations, changes, milliseconds, answers, failure } = result;
  const rate = (histories * 1_000) / milliseconds;
  const head =
    `seed ${seed}: ${histories} histories, ${operations} operations, ${changes} changes in ` +
    `${(milliseconds / 1_000).toFixed(1)} s (${rate.toFixed(1)} histories/s)`;
  if (failure) return `${head}\n${reportFailure(seed, failure)}`;
  const counted = [...answers].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, n]) => `  ${name}: ${n}`);
  return [head, ...counted, 'every history is linearizable'].join('\n');
}

/** The history, in the order in which its operations began, and how to play it again. */
export function reportFailure(seed: number, { n, script, history, problems }: Failure): string {
  const operations = history.operations.toSorted((a, b) => a.began - b.began);
  const start = operations[0]?.began ?? 0;
  const clients = script.clients.length;
  return [
    `NOT LINEARIZABLE: history ${n} of seed ${seed}, shrunk to ${clients} client(s)`,
    ...problems.map((problem) => `  ! ${problem}`),
    `  engine ${script.engine}, opened ${script.openAt ?? 'before'}, locks end at [${script.lockEnds}]`,
    `  settled after ${script.settlesAfter ?? '-'} ms, connections broken: ${history.broken}, reader away at [${script.followerBreaks ?? '-'}]`,
    ...operations.map((operation) => `  ${lineOf(operation, start)}`),
    '  in the order of the audit:',
    ...history.audit.map(
      ({ outcome, n, version, action, code, request_id }) =>
        `    ${outcome} ${n}: ${action} ${code} at version ${version} by ${request_id || 'nobody'}`,
    ),
    `  again: npm run prove -- --histories 1 --seed ${seed} --first ${n} --repeat 100`,
  ].join('\n');
}

function lineOf(operation: Recorded, start: number): string {
  const { id, kind, began, ended, ifMatch, status, version, body, message } = operation;
  const span = `${(began - start).toFixed(1)}..${ended === null ? 'cut' : (ended - start).toFixed(1)} ms`;
  const tag = ifMatch === undefined ? '' : ` If-Match ${ifMatch}`;
  const said = message === undefined ? '' : ` [${message}]`;
  return `${span} ${id} ${kind}${tag}${said} -> ${status} ${body?.code ?? body?.status ?? ''} v${version}`;
}
