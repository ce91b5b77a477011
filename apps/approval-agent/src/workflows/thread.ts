import {
  applyDecisions,
  checkDecisions,
  checkMessage,
  claimCall,
  ModelReplyError,
  newThread,
  nextStep,
  receiveMessage,
  receiveReply,
  recordInterruption,
  recordResult,
  type ThreadMessage,
  type ThreadState,
  TurnRunningError,
} from '@plangate/tool-approval';
import { log, uuid4, workflowInfo } from '@temporalio/workflow';
import type { ChatTurn, ReviewTurn, ThreadView, TurnLimits, TurnOutcome } from '../thread-contract.ts';
import { askModel, modelFaultOf, runTool } from './activities.ts';
import { fittingResult, requireRoom, requireRoomForReply } from './thread-size.ts';

/**
 * A conversation and the one turn that may run in it: the core's steps, each of which is an activity. What the
 * history holds is what was done: a call of a tool is scheduled once and never again.
 */
export class Thread {
  #state: ThreadState;
  #running = false;
  #turns = 0;
  #turnsPerRun = Number.POSITIVE_INFINITY;

  constructor(state: ThreadState = newThread()) {
    this.#state = state;
  }

  get state(): ThreadState {
    return this.#state;
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

  /** True where this run has taken its share of turns, or the engine finds its history long. */
  get isWorn(): boolean {
    return !this.#running && (this.#turns >= this.#turnsPerRun || workflowInfo().continueAsNewSuggested);
  }

  /** Changes nothing; throws where the message may not come now. */
  checkChat({ message }: ChatTurn): void {
    checkMessage(newThread(), message);
    if (this.#running) throw new TurnRunningError('chat');
    checkMessage(this.#state, message);
    requireRoom(this.#state, message);
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
    requireRoom(
      this.#state,
      read.flatMap((decision) => (decision.type === 'edit' ? [decision.action] : [])),
    );
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
      return await this.#drive(limits);
    } finally {
      this.#running = false;
    }
  }

  /** Look, do, put the outcome into the state; until the turn is over or a person is asked. */
  async #drive(limits: TurnLimits): Promise<TurnOutcome> {
    for (;;) {
      const step = nextStep(this.#state);
      switch (step.do) {
        case 'call_model': {
          const failed = await this.#callModel();
          if (failed) return failed;
          break;
        }
        case 'ask_person':
          return { kind: 'review', review: step.review };
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
        case 'end':
          return step.failed === null
            ? { kind: 'answer', answer: step.answer ?? '' }
            : { kind: 'tool_failed', tool: step.failed };
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
