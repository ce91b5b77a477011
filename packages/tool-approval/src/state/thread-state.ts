import type {
  AssistantMessage,
  DecisionType,
  JsonObject,
  ReviewRequest,
  ToolMessage,
  UserMessage,
} from '@plangate/contracts';

/** Raised with every change of {@link ThreadState} that older code cannot read. */
export const STATE_VERSION = 1;

/** The model's message as the thread keeps it. */
export interface ModelMessage extends AssistantMessage {
  /**
   * What the model's adapter wants to see again, such as a signature of the provider. It goes with the first change
   * of a call, because it may hold a copy of the old one.
   */
  raw?: JsonObject;
}

export type ThreadMessage = UserMessage | ModelMessage | ToolMessage;

/** What is known of the call at the same place of the newest model message. */
export interface CallRecord {
  /** Whether a person has to decide; fixed when the message arrives. */
  gated: boolean;
  /** What a person decided; null where nobody has, or needs to. */
  decision: DecisionType | null;
  /** `claimed`: begun, and not to be begun again; `done`: it has its result. */
  progress: 'open' | 'claimed' | 'done';
}

/** Gated calls that wait for a person. */
export interface PendingReview {
  /** New for each review; an answer is bound to it. */
  id: string;
  /** Places of the actions among the calls of the newest model message. */
  calls: number[];
  /** What is shown. */
  request: ReviewRequest;
}

/** `model`: it is asked next; `review`: a person is; `tools`: calls run; `idle`: the turn is over. */
export type Phase = 'idle' | 'model' | 'review' | 'tools';

/** Everything that a thread is. Plain JSON: it goes into a store or through a workflow and comes back the same. */
export interface ThreadState {
  version: typeof STATE_VERSION;
  messages: ThreadMessage[];
  phase: Phase;
  /** One for each call of the newest model message. */
  calls: CallRecord[];
  /** Not null exactly in phase `review`. */
  review: PendingReview | null;
  /** Number of the step that comes next, from 1 in each chat or review call, and the most there may be. */
  step: number;
  limit: number;
  /** The tool that threw in this turn; no model call follows. */
  failed: string | null;
}

/** A thread in which nothing has been said. */
export function newThread(): ThreadState {
  return {
    version: STATE_VERSION,
    messages: [],
    phase: 'idle',
    calls: [],
    review: null,
    step: 1,
    limit: DEFAULT_STEP_LIMIT,
    failed: null,
  };
}

/** Steps of one chat or review call where the caller names no limit. */
export const DEFAULT_STEP_LIMIT = 25;
