import type { ReviewRequest } from '@plangate/contracts';
import { applyDecisions, requireReview } from '../apply-decisions.ts';
import type { Checkpointer } from '../checkpoint/checkpointer.ts';
import { readResume } from '../decisions.ts';
import { ToolFailedError } from '../errors.ts';
import { receiveMessage, requireText } from '../receive-message.ts';
import { DEFAULT_STEP_LIMIT, type ThreadMessage, type ThreadState } from '../state/thread-state.ts';
import { AgentSettingsError, type Tool, ToolBox } from '../tools/index.ts';
import { Command } from './command.ts';
import { lookAt, type ThreadHold, takeThread } from './hold.ts';
import { type ChatInput, textsOf } from './input.ts';
import { type Model, type NodeName, runCalls, runTurn, type StepUpdate, type TurnParts } from './turn.ts';

export interface AgentOptions {
  model: Model;
  tools: readonly Tool[];
  /** Names of the tools whose calls wait for a person. */
  toolsRequiringApproval: readonly string[];
  checkpointer: Checkpointer;
  /** Goes before the conversation in every model call; it is no part of the thread. */
  systemPrompt?: string;
  /** Milliseconds of silence after which a process that runs a turn counts as dead. */
  holdMs?: number;
  newId?: () => string;
}

export interface InvokeConfig {
  configurable: { thread_id: string };
  /** Most steps of this call: model 1, review 2, tools 3, model 4, … A turn that null goes on with keeps its own. */
  recursionLimit?: number;
  /** Told of each node that has run. What it throws is ignored. */
  onStep?: (update: StepUpdate) => void;
}

export interface Interrupt {
  /** Id of the review. */
  id: string;
  value: ReviewRequest;
}

export interface InvokeResult {
  messages: ThreadMessage[];
  /** Present where actions wait for a person. */
  __interrupt__?: [Interrupt];
}

export interface StateSnapshot {
  values: { messages: ThreadMessage[] };
  /** The node that comes next; empty where the turn is over. */
  next: NodeName[];
  tasks: { name: NodeName; interrupts: Interrupt[] }[];
  interrupts: Interrupt[];
}

/** An agent whose gated tools run only after a person has decided. Threads are independent of each other. */
export interface HumanInTheLoopAgent {
  /**
   * Runs a turn: with a person's message; with a `Command`, the decisions about what waits; or with null, what a
   * process that died has left unfinished.
   * @throws {DomainError} where a rule is broken; nothing has changed then
   * @throws {ToolFailedError} where a tool threw: its call is answered with an error, the thread goes on
   */
  invoke(input: ChatInput | Command | null, config: InvokeConfig): Promise<InvokeResult>;
  /** The thread as it stands; an unknown one is empty. */
  getState(config: Pick<InvokeConfig, 'configurable'>): Promise<StateSnapshot>;
}

const KNOWN_OPTIONS = new Set([
  'model',
  'tools',
  'toolsRequiringApproval',
  'checkpointer',
  'systemPrompt',
  'holdMs',
  'newId',
]);
const DEFAULT_HOLD_MS = 30_000;

/**
 * Builds an agent (contract/tool-approval.md §3).
 * @throws {AgentSettingsError} for an unknown option, a missing checkpointer, two tools of one name, or a name in
 *   `toolsRequiringApproval` that is no tool: a gate that was misspelt would be an open one; a model or tool that is
 *   not whole; a `holdMs` that is none
 */
export function buildHumanInTheLoopAgent(options: AgentOptions): HumanInTheLoopAgent {
  const unknown = Object.keys(options).find((option) => !KNOWN_OPTIONS.has(option));
  if (unknown !== undefined) throw new AgentSettingsError(`unknown option '${unknown}'`);
  const { model, tools, toolsRequiringApproval, checkpointer, systemPrompt } = options;
  if (!checkpointer)
    throw new AgentSettingsError('an agent needs a checkpointer: a review outlives the call');
  if (typeof model !== 'function') throw new AgentSettingsError('an agent needs a model: a function');
  if (!Array.isArray(tools)) throw new AgentSettingsError('tools is a list of tools');
  if (!Array.isArray(toolsRequiringApproval)) {
    throw new AgentSettingsError('toolsRequiringApproval is a list of names');
  }
  const toolBox = new ToolBox({ tools, toolsRequiringApproval });
  const { holdMs = DEFAULT_HOLD_MS, newId = () => crypto.randomUUID() } = options;

  if (!(holdMs > 0 && Number.isFinite(holdMs))) {
    throw new AgentSettingsError('holdMs is a number of milliseconds above 0');
  }

  async function invoke(input: ChatInput | Command | null, config: InvokeConfig): Promise<InvokeResult> {
    const threadId = threadOf(config);
    const limit = config.recursionLimit ?? DEFAULT_STEP_LIMIT;
    const onStep = quietly(config.onStep);
    const parts: TurnParts = { model, toolBox, system: systemPrompt, newId, threadId, onStep };
    const holding = { checkpointer, threadId, holdMs, newId };

    if (input instanceof Command) {
      const hold = await takeThread(holding, 'review', (state) => {
        const review = requireReview(state, input.reviewId);
        return applyDecisions(state, readResume(input.resume, review.calls.length), limit);
      });
      onStep({ node: 'human_review', messages: reviewed(hold.state) });
      return await finish(hold, parts);
    }
    const texts = input === null ? [] : textsOf(input);
    for (const text of texts) requireText(text);
    const receive = (state: ThreadState) =>
      texts.reduce((next, text) => receiveMessage(next, text, limit), state);
    // What a dead process has left is settled before anything new is said.
    const hold = await takeThread(holding, 'chat', (state) =>
      state.phase === 'tools' ? state : receive(state),
    );
    return await finish(hold, parts, texts.length > 0 ? receive : undefined);
  }

  async function finish(hold: ThreadHold, parts: TurnParts, receive?: (state: ThreadState) => ThreadState) {
    try {
      if (receive && hold.state.phase === 'tools') {
        await runCalls(hold, parts);
        await hold.keep(receive(hold.state));
      }
      const unfinished = hold.state.phase !== 'idle';
      const { fault } = await runTurn(hold, parts);
      const { failed } = hold.state;
      if (unfinished && failed !== null)
        throw new ToolFailedError(failed, fault ? { cause: fault.cause } : {});
    } finally {
      // Everything is kept already; a hold that cannot be let go now ends by itself.
      await hold.release().catch(() => {});
    }
    return resultOf(hold.state);
  }

  async function getState(config: Pick<InvokeConfig, 'configurable'>): Promise<StateSnapshot> {
    const { state } = await lookAt(checkpointer, threadOf(config));
    const next = NODE_OF_PHASE[state.phase];
    const interrupts = interruptsOf(state);
    return {
      values: { messages: state.messages },
      next: next ? [next] : [],
      tasks: next ? [{ name: next, interrupts }] : [],
      interrupts,
    };
  }

  return { invoke, getState };
}

const NODE_OF_PHASE = { idle: null, model: 'llm_call', review: 'human_review', tools: 'tool_node' } as const;

function resultOf(state: ThreadState): InvokeResult {
  const [interrupt] = interruptsOf(state);
  return interrupt ? { messages: state.messages, __interrupt__: [interrupt] } : { messages: state.messages };
}

function interruptsOf({ review }: ThreadState): Interrupt[] {
  return review ? [{ id: review.id, value: review.request }] : [];
}

/** What a review has written: the model's message as it stands now, and the results of what was rejected. */
function reviewed({ messages }: ThreadState): ThreadMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant'));
}

function quietly(onStep: InvokeConfig['onStep']): (update: StepUpdate) => void {
  return (update) => {
    // A listener's fault is not the turn's, also where it comes later.
    try {
      const told: unknown = onStep?.(structuredClone(update));
      void Promise.resolve(told).catch(() => undefined);
    } catch {}
  };
}

function threadOf(config: Pick<InvokeConfig, 'configurable'>): string {
  const id: unknown = config?.configurable?.thread_id;
  // Half a character would be stored as another one, and two threads as one.
  if (typeof id !== 'string' || id === '' || !id.isWellFormed()) {
    throw new TypeError('configurable.thread_id is a text');
  }
  return id;
}
