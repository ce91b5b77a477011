import type { Aftermath } from './aftermath.ts';
import type { Part } from './killable.ts';
import type { Call, Life } from './life.ts';

/** A part that was killed, and when it served again, in milliseconds since 1970. */
export interface Kill {
  part: Part;
  at: number;
  back: number;
}

/** A step that a kill broke off is tried again within this time after everything is back, in milliseconds. */
const AGAIN_MS = 30_000;

/** The model worked only on the plan that was approved, and on none twice unless a kill had broken it off. */
export function wrongRuns(
  { calls }: Pick<Life, 'calls'>,
  { review, task }: Pick<Aftermath, 'review' | 'task'>,
  kills: Kill[],
): string[] {
  const problems: string[] = [];
  const worked = calls.filter(({ kind }) => kind === 'decompose' || kind === 'write');
  if (worked.length > 0 && review.status !== 'approved') {
    problems.push(`ran although the review is ${review.status}`);
  }
  if (worked.some(({ prompt }) => planIn(prompt) !== review.current_plan)) {
    problems.push('ran another plan than the approved one');
  }
  if (task.status === 'TASK_STATUS_COMPLETED' && review.status === 'approved' && worked.length < 2) {
    problems.push('was not run');
  }
  for (const kind of ['decompose', 'write'] as const) {
    const [, ...again] = worked.filter((call) => call.kind === kind);
    const unasked = again.filter((call) => !isAfterKill(call, kills));
    if (unasked.length > 0) problems.push(`${kind} ran twice without a kill before it`);
  }
  return problems;
}

/** The plan that the model was given to work on. */
function planIn(prompt: string): string | undefined {
  return /Approved plan:\n<data [^>]*>\n([\s\S]*?)\n<\/data /.exec(prompt)?.[1];
}

function isAfterKill({ from }: Call, kills: Kill[]): boolean {
  return kills.some(({ at, back }) => at <= from && from <= back + AGAIN_MS);
}
