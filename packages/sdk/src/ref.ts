/** A task by its id, or by anything that names it: what `submit`, `get` and the review calls returned. */
export type TaskRef = string | { task_id: string } | { workflow_id: string };

/**
 * The id that a reference names; the task's and its workflow's are the same.
 * @throws {TypeError} where it names none
 */
export function idOf(ref: TaskRef): string {
  const id = typeof ref === 'string' ? ref : namedBy(ref);
  // Dots alone would be taken for a step in the path.
  if (typeof id === 'string' && /[^.]/.test(id)) return id;
  throw new TypeError('a task id is needed, or an object with task_id or workflow_id');
}

/** Callers without types pass anything. */
function namedBy(ref: unknown): unknown {
  const { task_id, workflow_id } = Object(ref) as { task_id?: unknown; workflow_id?: unknown };
  return task_id ?? workflow_id;
}

/** The path of a task, or of something below it. */
export function taskPath(ref: TaskRef, below = ''): string {
  return `/api/v1/tasks/${encodeURIComponent(idOf(ref))}${below}`;
}
