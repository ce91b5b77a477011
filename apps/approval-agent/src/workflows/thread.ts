import {
  applyDecisions,
  checkDecisions,
  checkMessage,
  claimCall,
  ModelReplyError,
  type NextStep,
  newThread,
  nextStep,
  REJECTED_BY_USER_MESSAGE,
  type ReadDecision,
  receiveMessage,
  receiveReply,
  recordInterruption,
  recordResult,
  type ThreadMessage,
  type ThreadState,
  TurnRunningError,
} from '@plangate/tool-approval';
import { currentUpdateInfo, log, uuid4, workflowInfo } from '@temporalio/workflow';
import type {
  ChatTurn,
  LaterOutcome,
  ReviewTurn,
  ThreadInput,
  ThreadView,
  TurnLimits,
  TurnOutcome,
} from '../thread-contract.ts';
import { askModel, modelFaultOf, runTool } from './activities.ts';
import { fittingResult, requireRoom, requireRoomForReply } from './thread-size.ts';

/** So many of the newest turns are known by their ids to the next run. */
const KNOWN_TURNS = 100;

/**
 * A conversation and the one turn that may run in it: the core's steps, each of which is an activity. What the
 * history holds is what was done: a call of a tool is scheduled once and never again.
 */
export class Thread {
  #state: ThreadState;
  #running = false;
  #turns = 0;
  #turnsPerRun = Number.POSITIVE_INFINITY;
  #turnIds: string[];

  constructor({ state = newThread(), turnIds = [] }: ThreadInput) {
    this.#state = state;
    this.#turnIds = turnIds;
  }

  /** What the next run begins with. */
  get left(): ThreadInput {
    return { state: this.#state, turnIds: this.#turnIds };
  }

  get messages(): ThreadMessage[] {
    return this.#state.messages;
  }

  get view(): ThreadView {
    if (this.#running) return { running: true, answer: null, review: null };
    const { review } = this.#state;
    const step = nextStep(this.#state);
    return { running: false, answer: step.do === 'end' ? step.answer : null, review };
  }

  /** What came of the turn of this Update, in an earlier run too; null where it has none that is known. */
  outcomeOf(turnId: string): LaterOutcome | null {
    const place = this.#turnIds.indexOf(turnId);
    if (place < 0) return null;
    const isLast = place === this.#turnIds.length - 1 && !this.#running;
    return (isLast ? outcomeAt(nextStep(this.#state)) : null) ?? { kind: 'superseded' };
  }

  /** True where this run has taken its share of turns, or the engine finds its history long. */
  get isWorn(): boolean {
    return !this.#running && (this.#turns >= this.#turnsPerRun || workflowInfo().continueAsNewSuggested);
  }

  /** Changes nothing; throws where the message may not come now. */
  checkChat({ message }: ChatTurn): void {
    checkMessage(newThread(), message);
    if (this.#running) throw new TurnRunningError('chat');
    checkMessage(this.#state, message);
    requireRoom(this.#state, [message]);
  }

  async chat({ message, limits }: ChatTurn): Promise<TurnOutcome> {
    const before = this.#state;
    const outcome = await this.#turn(limits, () => receiveMessage(this.#state, message, limits.maxSteps));
    // The model has not said a word: as if nobody had asked, so that the same message can be sent again.
    const nothingSaid = this.#state.messages.length === before.messages.length + 1;
    if (outcome.kind === 'model_failed' && nothingSaid) this.#state = before;
    return outcome;
  }

  /** Changes nothing; throws where the decisions do not fit what waits. */
  checkReview({ decisions, reviewId }: ReviewTurn): void {
    if (this.#running) throw new TurnRunningError('review');
    const read = checkDecisions(this.#state, decisions, reviewId);
    requireRoom(this.#state, read.flatMap(wordsOf));
  }

  async review({ decisions, reviewId, limits }: ReviewTurn): Promise<TurnOutcome> {
    return this.#turn(limits, () => {
      const read = checkDecisions(this.#state, decisions, reviewId);
      return applyDecisions(this.#state, read, limits.maxSteps);
    });
  }

  async #turn(limits: TurnLimits, begin: () => ThreadState): Promise<TurnOutcome> {
    this.#running = true;
    this.#turns += 1;
    this.#turnsPerRun = limits.turnsPerRun;
    try {
      this.#state = begin();
      const outcome = await this.#drive(limits);
      // A turn without a word of the model may be done again.
      if (outcome.kind !== 'model_failed') this.#note(currentUpdateInfo()?.id);
      return outcome;
    } finally {
      this.#running = false;
    }
  }

  #note(turnId: string | undefined): void {
    if (turnId !== undefined) this.#turnIds = [...this.#turnIds, turnId].slice(-KNOWN_TURNS);
  }

  /** Look, do, put the outcome into the state; until the turn is over or a person is asked. */
  async #drive(limits: TurnLimits): Promise<TurnOutcome> {
    for (;;) {
      const step = nextStep(this.#state);
      const outcome = outcomeAt(step);
      if (outcome) return outcome;
      switch (step.do) {
        case 'call_model': {
          const failed = await this.#callModel();
          if (failed) return failed;
          break;
        }
        case 'run_call': {
          const { index, order } = step;
          this.#state = claimCall(this.#state, index);
          const result = await runTool(order, limits);
          this.#state =
            result === 'interrupted'
              ? recordInterruption(this.#state, index)
              : recordResult(this.#state, index, fittingResult(this.#state, order.call.name, result));
          break;
        }
        case 'settle_interrupted':
          this.#state = recordInterruption(this.#state, step.index);
          break;
      }
    }
  }

  async #callModel(): Promise<Extract<TurnOutcome, { kind: 'model_failed' }> | null> {
    try {
      const { reply, gated } = await askModel(this.#state.messages);
      requireRoomForReply(this.#state, reply);
      this.#state = receiveReply(this.#state, reply, {
        isGated: (tool) => gated.includes(tool),
        newId: uuid4,
      });
      return null;
    } catch (error) {
      const reason = error instanceof ModelReplyError ? 'failed' : modelFaultOf(error);
      if (reason === null) throw error;
      log.warn('no reply of the model', { reason });
      return { kind: 'model_failed', reason };
    }
  }
}

/** What a person has written into a decision. */
function wordsOf(decision: ReadDecision): unknown[] {
  if (decision.type === 'edit') return [decision.action];
  const isOwn = decision.type === 'reject' && decision.reason !== REJECTED_BY_USER_MESSAGE;
  return isOwn ? [decision.reason] : [];
}

/** How a turn ends at this step; null where it goes on. */
function outcomeAt(step: NextStep): TurnOutcome | null {
  if (step.do === 'ask_person') return { kind: 'review', review: step.review };
  if (step.do !== 'end') return null;
  return step.failed === null
    ? { kind: 'answer', answer: step.answer ?? '' }
    : { kind: 'tool_failed', tool: step.failed };
}
