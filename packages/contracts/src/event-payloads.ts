import { z } from 'zod';
import { Question, StrategyName, Verification } from './research.ts';
import { Intent } from './review.ts';

const Version = z.int().positive();
const Change = z.looseObject({ reason: z.string(), by: z.string() });

/**
 * What the payload of an event holds, by its type (`contract/plan-review.md` §3). Payloads may gain fields. An event
 * that was too large has `truncated: true` instead of what did not fit, so everything that can be long is optional.
 * The types that are not named here have no payload.
 */
export const EventPayloads = z.object({
  WORKFLOW_STARTED: z.looseObject({ task_context: z.record(z.string(), z.unknown()).optional() }),
  RESEARCH_PLAN_READY: z.looseObject({
    round: z.int(),
    intent: Intent,
    version: Version,
    expires_at: z.iso.datetime(),
  }),
  REVIEW_USER_FEEDBACK: z.looseObject({ round: z.int(), version: Version }),
  RESEARCH_PLAN_UPDATED: z.looseObject({ round: z.int(), version: Version, intent: Intent }),
  RESEARCH_PLAN_APPROVED: z.looseObject({
    plan_sha256: z.string(),
    approved_by: z.string(),
    version: Version,
  }),
  RESEARCH_PLAN_EDITED: z.looseObject({ version: Version, plan_sha256: z.string(), by: z.string() }),
  RESEARCH_PLAN_REJECTED: z.looseObject({ version: Version, by: z.string(), reason: z.string().optional() }),
  REVIEW_EXTENDED: z.looseObject({
    version: Version,
    expires_at: z.iso.datetime(),
    seconds: z.int(),
    by: z.string(),
  }),
  REVIEW_REMINDER: z.looseObject({
    version: Version,
    expires_at: z.iso.datetime(),
    share: z.number().describe('The part of the wait that is over, from 0 to 1.'),
  }),
  REVIEW_TIMED_OUT: z.looseObject({ version: Version, expires_at: z.iso.datetime() }),
  REVIEW_CANCELLED: z.looseObject({ version: Version, by: z.string(), reason: z.string().optional() }),
  DELEGATION: z.looseObject({ questions: z.array(Question).optional(), strategy: StrategyName }),
  AGENT_STARTED: z.looseObject({ passages: z.int().optional() }),
  TOOL_INVOKED: z.looseObject({ source: z.string() }),
  TOOL_OBSERVATION: z.looseObject({
    searches: z.int().optional(),
    passages: z.array(z.object({ passage_id: z.string(), title: z.string(), url: z.string() })).optional(),
  }),
  AGENT_COMPLETED: z.looseObject({ passages: z.int().optional(), ...Verification.partial().shape }),
  PROGRESS: z.looseObject({ done: z.int(), total: z.int() }),
  LLM_OUTPUT: z.looseObject({ citations: z.int() }),
  ERROR_OCCURRED: z.looseObject({ code: z.string(), reason: z.string().optional() }),
  WORKFLOW_PAUSING: Change,
  WORKFLOW_PAUSED: Change,
  WORKFLOW_RESUMED: Change,
  WORKFLOW_CANCELLING: Change,
});
export type EventPayloads = z.infer<typeof EventPayloads>;
