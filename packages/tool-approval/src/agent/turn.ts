import type { ToolSchema } from '@plangate/contracts';
import { nextStep } from '../next-step.ts';
import { type ModelReply, receiveReply } from '../receive-reply.ts';
import { claimCall, recordInterruption, recordResult } from '../run-call.ts';
import type { ThreadMessage, ThreadState } from '../state/thread-state.ts';
import type { ToolBox } from '../tools/index.ts';
import type { ThreadHold } from './hold.ts';

export interface ModelRequest {
  system?: string;
  messages: readonly ThreadMessage[];
  tools: readonly ToolSchema[];
}

/** A language model: the whole conversation in, its next message out. What it throws ends the turn. */
export type Model = (request: ModelRequest) => ModelReply | Promise<ModelReply>;

/** The nodes of a turn, by their names in traces. */
export type NodeName = 'llm_call' | 'human_review' | 'tool_node';

/** A node that has run: what it said or wrote anew. A review that waits for a person has not run yet. */
export interface StepUpdate {
  node: NodeName;
  messages: ThreadMessage[];
}

export interface TurnParts {
  model: Model;
  toolBox: ToolBox;
  system: string | undefined;
  newId: () => string;
  threadId: string;
  onStep: (update: StepUpdate) => void;
}

export interface TurnEnd {
  state: ThreadState;
  /** What the first tool that threw in this turn has thrown. */
  fault?: { tool: string; cause: unknown };
}

/** Runs a turn until a person is needed or the model has said its last word; every step is kept before the next. */
export async function runTurn(hold: ThreadHold, parts: TurnParts): Promise<TurnEnd> {
  for (;;) {
    const end = await runCalls(hold, parts);
    if (nextStep(hold.state).do !== 'call_model') return end;
    await askModel(hold, parts);
  }
}

/** Runs the calls that may run, until none is left; those that a dead driver had begun are answered, not run. */
export async function runCalls(hold: ThreadHold, parts: TurnParts): Promise<TurnEnd> {
  const before = hold.state.messages.length;
  let fault: TurnEnd['fault'];
  let step = nextStep(hold.state);
  const any = step.do === 'run_call' || step.do === 'settle_interrupted';
  for (; step.do === 'run_call' || step.do === 'settle_interrupted'; step = nextStep(hold.state)) {
    if (step.do === 'settle_interrupted') {
      await hold.keep(recordInterruption(hold.state, step.index));
      continue;
    }
    const { index, order } = step;
    await hold.keep(claimCall(hold.state, index));
    const execution = parts.toolBox.execute(order, parts.threadId, (cause) => {
      fault ??= { tool: order.call.name, cause };
    });
    const result = await hold.during(execution);
    await hold.keep(recordResult(hold.state, index, result));
  }
  if (any) parts.onStep({ node: 'tool_node', messages: hold.state.messages.slice(before) });
  return fault ? { state: hold.state, fault } : { state: hold.state };
}

async function askModel(hold: ThreadHold, { model, toolBox, system, newId, onStep }: TurnParts) {
  const before = hold.state.messages.length;
  // A copy: an adapter may change what it is given, what was approved stays.
  const request: ModelRequest = { messages: structuredClone(hold.state.messages), tools: toolBox.schemas };
  if (system !== undefined) request.system = system;
  const reply = await hold.during(Promise.resolve(model(request)));
  const next = receiveReply(hold.state, reply, { isGated: (tool) => toolBox.isGated(tool), newId });
  const over = next.phase === 'idle' || next.phase === 'review';
  await (over ? hold.keepAndRelease(next) : hold.keep(next));
  const [message, ...results] = hold.state.messages.slice(before);
  onStep({ node: 'llm_call', messages: message ? [message] : [] });
  const passed = message?.role === 'assistant' && message.tool_calls.length > 0 && !hold.state.review;
  if (passed) onStep({ node: 'human_review', messages: results });
}
