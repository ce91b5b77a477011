import type { ReviewRequest } from '@plangate/contracts';
import { isBlank } from '@plangate/contracts/text';
import { validateDecisions } from '../decisions.ts';
import { EmptyMessageError, NoPendingReviewError } from '../errors.ts';
import { DEFAULT_STEP_LIMIT } from '../state/thread-state.ts';
import type { HumanInTheLoopAgent, InvokeResult } from './build.ts';
import { Command } from './command.ts';

/** What a chat or review call ends with: an answer, or actions that wait. Exactly one of the two is null. */
export interface ChatTurn {
  answer: string | null;
  pendingReview: ReviewRequest | null;
}

/** A conversation with the rules that the HTTP API has too (contract/tool-approval.md §1 and §3). */
export class ReviewedChatUseCase {
  readonly #agent: HumanInTheLoopAgent;
  readonly #maxAgentSteps: number;

  constructor(agent: HumanInTheLoopAgent, maxAgentSteps: number = DEFAULT_STEP_LIMIT) {
    this.#agent = agent;
    this.#maxAgentSteps = maxAgentSteps;
  }

  /** @throws {EmptyMessageError | ReviewPendingError | TurnRunningError} and nothing has changed */
  async sendMessage(message: string, threadId: string): Promise<ChatTurn> {
    if (typeof message !== 'string' || isBlank(message)) throw new EmptyMessageError();
    return turnOf(await this.#agent.invoke({ messages: [message] }, this.#config(threadId)));
  }

  /**
   * Answers the review that is pending when the call begins, and no other.
   * @throws {NoPendingReviewError | InvalidReviewDecisionError | StaleReviewError | TurnRunningError} and nothing
   *   has changed: the right decisions can be sent afterwards
   */
  async submitReview(decisions: unknown, threadId: string): Promise<ChatTurn> {
    if (threadId === '') throw new NoPendingReviewError();
    const { interrupts } = await this.#agent.getState({ configurable: { thread_id: threadId } });
    const [pending] = interrupts;
    if (pending) validateDecisions(decisions, pending.value);
    // Bound to what is pending now: no id fits a review that comes up only later.
    const command = new Command({ resume: { decisions }, reviewId: pending?.id ?? NO_REVIEW });
    return turnOf(await this.#agent.invoke(command, this.#config(threadId)));
  }

  #config(threadId: string) {
    return { configurable: { thread_id: threadId }, recursionLimit: this.#maxAgentSteps };
  }
}

/** The id of no review. */
const NO_REVIEW = '';

function turnOf({ messages, __interrupt__ }: InvokeResult): ChatTurn {
  if (__interrupt__) return { answer: null, pendingReview: __interrupt__[0].value };
  const last = messages.at(-1);
  return { answer: last?.role === 'assistant' ? last.content : '', pendingReview: null };
}
