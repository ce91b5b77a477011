/**
 * The shapes on the wire, as the contracts have them. The build replaces this module by plain types made of the same
 * schemas (`build/wire-types.ts`), under the same names and comments, so that the published package needs neither
 * them nor zod.
 */
import type * as contracts from '@plangate/contracts';
import type { z } from 'zod';

/** The body of an answer that is no success; `code` is for programs, further fields depend on it. */
export type ErrorBody = z.output<typeof contracts.ErrorBody>;

/** A task as it is submitted; only `query` is needed. */
export type SubmitTaskBody = z.input<typeof contracts.SubmitTaskBody>;
/** A task is submitted; `task_id` and `workflow_id` are the same. */
export type SubmitTaskAnswer = z.output<typeof contracts.SubmitTaskAnswer>;
/** A task is submitted, and where its events are. */
export type StreamTaskAnswer = z.output<typeof contracts.StreamTaskAnswer>;
/** A task as it stands; `result` is Markdown, `""` until there is one. */
export type TaskBody = z.output<typeof contracts.TaskBody>;
/** What a task has used of its models; `estimated_cost` in US dollars. */
export type TokenUsage = z.output<typeof contracts.TokenUsage>;
/** What is known of a result: its sources, the plan that was executed, who approved it. */
export type TaskMetadata = z.output<typeof contracts.TaskMetadata>;
/** A reference `[n]` of a report and the passage that carries it. */
export type Citation = z.output<typeof contracts.Citation>;
/** How many claims of a report cite something, and how many of them hold. */
export type Verification = z.output<typeof contracts.Verification>;
/** A part of one's tasks; `total_count` counts all that fit. */
export type TaskList = z.output<typeof contracts.TaskList>;
/** Whether a task is paused or cancelled, by whom and why; `""` where it is not. */
export type ControlState = z.output<typeof contracts.ControlState>;
/** A cancel, pause or resume is on its way. */
export type ControlAnswer = z.output<typeof contracts.ControlAnswer>;
/** A part of the events of a task; `count` is how many these are. */
export type EventList = z.output<typeof contracts.EventList>;
/** All events of a task so far. */
export type Timeline = z.output<typeof contracts.Timeline>;
/** What the payload of an event holds, by its type. It may gain fields; of an event that was too large it may lack what is long, and has `truncated: true`. */
export type EventPayloads = z.output<typeof contracts.EventPayloads>;
/** An event as it is stored; `seq` counts from 1 without gaps. */
export type WorkflowEvent = z.output<typeof contracts.WorkflowEvent>;

/** A review as the gateway shows it; `current_plan` is `""` while there is only a question. */
export type ReviewBody = z.output<typeof contracts.ReviewBody>;
/** What the planner made of a feedback: in `plan`, and as the state after it. */
export type FeedbackBody = z.output<typeof contracts.FeedbackBody>;
/** An approval is recorded. */
export type ApproveBody = z.output<typeof contracts.ApproveBody>;
/** One message of the conversation about a plan. */
export type Round = z.output<typeof contracts.Round>;
/** Every text that was the plan, with who wrote it. */
export type VersionList = z.output<typeof contracts.VersionList>;
/** What changed between two versions of a plan, word by word, and as a unified diff. */
export type PlanDiff = z.output<typeof contracts.PlanDiff>;
/** One step of a review, or one that was refused. */
export type AuditEntry = z.output<typeof contracts.AuditEntry>;
/** Every step and every refusal of a review, the oldest first. */
export type AuditList = z.output<typeof contracts.AuditList>;

/** A session in a list. */
export type SessionSummary = z.output<typeof contracts.SessionSummary>;
/** A part of one's sessions; `total_count` counts all. */
export type SessionList = z.output<typeof contracts.SessionList>;
/** A session. */
export type SessionBody = z.output<typeof contracts.SessionBody>;
/** The tasks of a session with their results. */
export type SessionHistory = z.output<typeof contracts.SessionHistory>;
/** A part of the turns of a session with what happened in each. */
export type SessionEvents = z.output<typeof contracts.SessionEvents>;
/** The title of a session after it was changed. */
export type SessionTitleAnswer = z.output<typeof contracts.SessionTitleAnswer>;
