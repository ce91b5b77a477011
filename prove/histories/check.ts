import { explain } from './explain.ts';
import type { History } from './recording.ts';
import { rebuild } from './truth.ts';

/**
 * What is wrong with a history; `[]` where it is linearizable: its changes have one order that the rules allow, and
 * everything that clients saw has its place in it.
 */
export function check(history: History): string[] {
  const { truth, problems } = rebuild(history);
  if (problems.length > 0) return problems;
  const { engine } = history.script;
  const started = history.operations.find(({ kind, status }) => kind === 'approve' && status === 200);
  if (engine === 'over' && started) return [`${started.id}: approved, although the run is over`];
  return explain(history, truth);
}
