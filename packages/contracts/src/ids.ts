import { z } from 'zod';

const ID_PATTERN = /^[A-Za-z0-9:_.-]{1,128}$/;

/** Syntax of every id on the wire (`contract/plan-review.md` §0). */
export const Id = z.string().regex(ID_PATTERN);

/** The id of a task, which is the id of its workflow too: `task-<ULID>`. */
export const WorkflowId = Id.brand<'WorkflowId'>();
export type WorkflowId = z.infer<typeof WorkflowId>;

/** The workflow id in `text`, or null where the syntax is wrong. */
export function parseWorkflowId(text: unknown): WorkflowId | null {
  const parsed = WorkflowId.safeParse(text);
  return parsed.success ? parsed.data : null;
}

/**
 * The Redis hash tag of a workflow: all keys of one workflow share a slot, so one script may touch several of
 * them. Every package that builds key names starts from here.
 */
export function slotOf(workflowId: WorkflowId): string {
  return `{${workflowId}}`;
}

/** Who a credential stands for; resources belong to exactly this pair. */
export const Owner = z.object({ user: z.string().min(1), tenant: z.string().min(1) });
export type Owner = z.infer<typeof Owner>;

/** True when both name the same user of the same tenant; a missing owner equals nobody. */
export function sameOwner(a: Owner | null | undefined, b: Owner | null | undefined): boolean {
  return !!a && !!b && a.user === b.user && a.tenant === b.tenant;
}

/** Lower-case hex SHA-256, as in `plan_sha256`. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** RFC 3339 in UTC with `Z`. */
export const Timestamp = z.iso.datetime();
