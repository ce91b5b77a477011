/** What the HTTP side, the thread's workflow and its activities say to each other. Imports no schema library. */
import type {
  CallOrder,
  CallResult,
  ModelReply,
  PendingReview,
  ThreadMessage,
  ThreadState,
} from '@plangate/tool-approval';

export const THREAD_WORKFLOW = 'ThreadWorkflow';
export const CHAT_UPDATE = 'chat';
export const REVIEW_UPDATE = 'review';
export const VIEW_QUERY = 'view';
export const MESSAGES_QUERY = 'messages';
export const OUTCOME_QUERY = 'outcome';

/** Type of the failure of a call that was broken off: nobody knows whether it had its effect. */
export const INTERRUPTED = 'interrupted';

/** Settings that count for one turn. They travel with it, so that a replay goes the way that its history went. */
export interface TurnLimits {
  /** Steps of one chat or review call (`contract/tool-approval.md §4`). */
  maxSteps: number;
  /** Longest time in seconds for one call of a tool. */
  toolTimeoutSeconds: number;
  /** Turns after which the thread goes on in a new run of its workflow. */
  turnsPerRun: number;
}

export interface ChatTurn {
  message: string;
  limits: TurnLimits;
}

export interface ReviewTurn {
  decisions: unknown;
  /** The review that is answered. */
  reviewId: string;
  limits: TurnLimits;
}

/** How a turn ended that was not refused. */
export type TurnOutcome =
  | { kind: 'answer'; answer: string }
  | { kind: 'review'; review: PendingReview }
  /** A tool threw; its call has its error result, and no model call followed. */
  | { kind: 'tool_failed'; tool: string }
  | { kind: 'model_failed'; reason: ModelFault };

/** `not_configured`: no key; `away`: llm-service cannot be reached; `failed`: the model gave nothing usable. */
export type ModelFault = 'not_configured' | 'away' | 'failed';

/** What a thread shows while nobody talks to it. */
export interface ThreadView {
  running: boolean;
  answer: string | null;
  review: PendingReview | null;
}

/** What came of a turn, asked for later. `superseded`: it has had its outcome, and the thread has gone on since. */
export type LaterOutcome = TurnOutcome | { kind: 'superseded' };

/** Input of the workflow: what its last run left. */
export interface ThreadInput {
  state?: ThreadState;
  /** Ids of the newest Updates, the last one last: the engine forgets them with their run. */
  turnIds?: string[];
}

/** What the model answered, and which tools waited for a person when it did. */
export interface AskedModel {
  reply: ModelReply;
  gated: string[];
}

/** The activities, as the workflow calls them. */
export interface ThreadActivities {
  /** Fails with an `ApplicationFailure` whose type is a {@link ModelFault}. */
  askModel(messages: ThreadMessage[]): Promise<AskedModel>;
  /** @param threadKey unique among the threads of all owners */
  runTool(order: CallOrder, threadKey: string): Promise<CallResult>;
}
