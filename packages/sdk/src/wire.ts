/**
 * The shapes on the wire, as the contracts have them. The build replaces this module by plain types made of the same
 * schemas (`build.ts`), so that the published package needs neither them nor zod.
 */
import type * as contracts from '@plangate/contracts';
import type { z } from 'zod';

export type ErrorBody = z.output<typeof contracts.ErrorBody>;

export type SubmitTaskBody = z.input<typeof contracts.SubmitTaskBody>;
export type SubmitTaskAnswer = z.output<typeof contracts.SubmitTaskAnswer>;
export type StreamTaskAnswer = z.output<typeof contracts.StreamTaskAnswer>;
export type TaskBody = z.output<typeof contracts.TaskBody>;
export type TaskMetadata = z.output<typeof contracts.TaskMetadata>;
export type Citation = z.output<typeof contracts.Citation>;
export type Verification = z.output<typeof contracts.Verification>;
export type TaskList = z.output<typeof contracts.TaskList>;
export type ControlState = z.output<typeof contracts.ControlState>;
export type ControlAnswer = z.output<typeof contracts.ControlAnswer>;
export type EventList = z.output<typeof contracts.EventList>;
export type Timeline = z.output<typeof contracts.Timeline>;
export type WorkflowEvent = z.output<typeof contracts.WorkflowEvent>;

export type ReviewBody = z.output<typeof contracts.ReviewBody>;
export type FeedbackBody = z.output<typeof contracts.FeedbackBody>;
export type ApproveBody = z.output<typeof contracts.ApproveBody>;
export type Round = z.output<typeof contracts.Round>;
export type VersionList = z.output<typeof contracts.VersionList>;
export type PlanDiff = z.output<typeof contracts.PlanDiff>;
export type AuditEntry = z.output<typeof contracts.AuditEntry>;
export type AuditList = z.output<typeof contracts.AuditList>;

export type SessionSummary = z.output<typeof contracts.SessionSummary>;
export type SessionList = z.output<typeof contracts.SessionList>;
export type SessionBody = z.output<typeof contracts.SessionBody>;
export type SessionHistory = z.output<typeof contracts.SessionHistory>;
export type SessionEvents = z.output<typeof contracts.SessionEvents>;
export type SessionTitleAnswer = z.output<typeof contracts.SessionTitleAnswer>;
