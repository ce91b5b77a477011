import { z } from 'zod';
import { atMost, Reason } from './limited-text.ts';
import { cleanText, isBlank, utf8Bytes } from './text.ts';

export const ReviewStatus = z.enum(['reviewing', 'approved', 'rejected', 'cancelled', 'timed_out']);
export type ReviewStatus = z.infer<typeof ReviewStatus>;

/** What the planner thinks of its own answer; only `ready` makes a plan (§5). Nothing is approved by it. */
export const Intent = z.enum(['feedback', 'ready']);
export type Intent = z.infer<typeof Intent>;

export const Round = z.object({
  role: z.enum(['assistant', 'user']),
  message: z.string(),
  timestamp: z.iso.datetime(),
});
export type Round = z.infer<typeof Round>;

const DecisionAction = z.enum(['approve', 'reject', 'cancel']);

/** Body of `GET /api/v1/tasks/{id}/review` and of every 200 of edit, reject and extend (§2.1). */
export const ReviewBody = z.object({
  status: ReviewStatus,
  round: z.int().nonnegative(),
  version: z.int().positive(),
  /** The newest plan that can be approved; `""` while there is none. */
  current_plan: z.string(),
  rounds: z.array(Round),
  query: z.string(),
  intent: z.union([Intent, z.literal('')]),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  max_rounds: z.int(),
  feedbacks_left: z.int().nonnegative(),
  /** Version at which `current_plan` was written; 0 while there is none. */
  plan_version: z.int().nonnegative(),
  /** SHA-256 of `current_plan`; `""` while there is none. */
  plan_sha256: z.string(),
  decision: z
    .object({ action: DecisionAction, by: z.string(), at: z.iso.datetime(), reason: z.string().optional() })
    .optional(),
});
export type ReviewBody = z.infer<typeof ReviewBody>;

/** 200 of a feedback: the documented nested `plan`, and beside it what `shannon-sdk` reads. */
export const FeedbackBody = z.object({
  status: ReviewStatus,
  plan: z.object({ message: z.string(), round: z.int(), version: z.int(), intent: Intent }),
  round: z.int(),
  version: z.int(),
  current_plan: z.string(),
  rounds: z.array(Round),
  query: z.string(),
});
export type FeedbackBody = z.infer<typeof FeedbackBody>;

/** 200 of an approve. */
export const ApproveBody = z.object({ status: z.literal('approved'), message: z.string() });
export const APPROVED_MESSAGE = 'Research started';
export const APPROVED_LATER_MESSAGE = 'Approval recorded; research starts when the task engine is back';

/** Body of `GET …/review/versions`. */
export const VersionList = z.object({
  versions: z.array(
    z.object({
      version: z.int(),
      author: z.enum(['assistant', 'user']),
      by: z.string().optional(),
      created_at: z.iso.datetime(),
      sha256: z.string(),
      text: z.string(),
    }),
  ),
});

/** Body of `GET …/review/diff`. */
export const PlanDiff = z.object({
  from: z.int(),
  to: z.int(),
  changes: z.array(z.object({ op: z.enum(['equal', 'insert', 'delete']), text: z.string() })),
  unified: z.string(),
});
export type PlanDiff = z.infer<typeof PlanDiff>;

/**
 * The chains of an audit: steps that were accepted, what the owner was refused, and what others were. Refusals have
 * chains of their own, so that they hold up no step and strangers cannot push the owner's out.
 */
export const AuditChain = z.enum(['accepted', 'refused', 'foreign']);
export type AuditChain = z.infer<typeof AuditChain>;

/** One decision that was made or refused, chained to the one before it (contract/plan-review.md §2.2). */
export const AuditEntry = z.object({
  chain: AuditChain.describe(
    'Whose `n` and `prev` these are. Missing in an entry that was written before entries named it: then ' +
      '`accepted` where the outcome is, `foreign` where `by` is `another user`, else `refused`.',
  ).optional(),
  /** From 1 in its chain. */
  n: z.int().positive(),
  /** RFC 3339, the store's clock. */
  at: z.string(),
  /** User of the credential; `system` for what nobody asked for, `another user` for one who is not the owner. */
  by: z.string(),
  action: z.string(),
  outcome: z.enum(['accepted', 'refused']),
  /** `ok`, or the code of the refusal. */
  code: z.string(),
  /** Version after an accepted step, or at which it was refused; 0 where there is no review. */
  version: z.int().nonnegative(),
  request_id: z.string(),
  plan_sha256: z.string().optional(),
  prev: z.string().describe('`hash` of the entry before it in its chain; 64 zeros for the first.'),
  hash: z
    .string()
    .describe(
      'Hex SHA-256 of the UTF-8 JSON, without spaces, of the `[name, value]` pairs of all other members, sorted by name.',
    ),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** Body of `GET …/review/audit`: the chains merged by time, each in the order of its `n`. */
export const AuditList = z.object({ entries: z.array(AuditEntry) });

export const FEEDBACK_LIMIT_BYTES = 10_240;
export const PLAN_LIMIT_BYTES = 65_536;
export const MAX_REVIEW_SECONDS = 2_592_000;

const ACTION_TEXT = "action must be 'feedback' or 'approve'";
const FEEDBACK_TEXT = 'message is required for feedback';
const EDIT_TEXT = 'plan is required for edit';
const SECONDS_TEXT = 'seconds must be an integer between 1 and 2592000';

/** Text that must hold something visible; cleaned first, so that a limit counts what is stored. */
function requiredText(error: string) {
  return z
    .string({ error })
    .transform(cleanText)
    .refine((text) => !isBlank(text), { error, abort: true });
}

const FeedbackAction = z.object({
  action: z.literal('feedback'),
  message: requiredText(FEEDBACK_TEXT)
    .superRefine(atMost(FEEDBACK_LIMIT_BYTES, utf8Bytes, 'message exceeds maximum length (10KB)'))
    .describe(
      `What to change, or the answer to a question of the planner; ${FEEDBACK_LIMIT_BYTES} bytes of UTF-8 at most.`,
    ),
});

const EditAction = z.object({
  action: z.literal('edit'),
  plan: requiredText(EDIT_TEXT)
    .superRefine(atMost(PLAN_LIMIT_BYTES, utf8Bytes, 'plan exceeds maximum length (64KB)'))
    .describe(`Becomes the current plan as it stands; ${PLAN_LIMIT_BYTES} bytes of UTF-8 at most.`),
});

const RejectAction = z.object({
  action: z.literal('reject'),
  reason: Reason.describe('Why; 2 000 characters at most.'),
});

const ExtendAction = z.object({
  action: z.literal('extend'),
  seconds: z
    .int({ error: SECONDS_TEXT })
    .min(1, { error: SECONDS_TEXT })
    .max(MAX_REVIEW_SECONDS, { error: SECONDS_TEXT })
    .describe('Added to the deadline.'),
});

/**
 * Body of `POST …/review` (§2.2), once it is known to be an object. The message of the first issue is the
 * contract's exact text; its `params` are further fields of the error body. Only this typed `action` decides:
 * never words in a message.
 */
export const ReviewAction = z.discriminatedUnion(
  'action',
  [FeedbackAction, z.object({ action: z.literal('approve') }), EditAction, RejectAction, ExtendAction],
  { error: ACTION_TEXT },
);
export type ReviewAction = z.infer<typeof ReviewAction>;
