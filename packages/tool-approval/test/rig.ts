import { z } from 'zod';
import {
  type AgentOptions,
  buildHumanInTheLoopAgent,
  Command,
  defineTool,
  type HumanInTheLoopAgent,
  MemoryCheckpointer,
  type Model,
  type ModelRequest,
} from '../src/agent/index.ts';
import type { ModelReply } from '../src/index.ts';

export const EMAIL = { to: 'alice@example.com', subject: 'Meeting', body: 'The meeting is at 10.' };

/** A call of `send_email` as a model writes it. */
export function email(args: unknown = EMAIL, id: string | null = null) {
  return { id, name: 'send_email', args };
}

/** A call of `get_weather`. */
export function weather(location = 'Jakarta', id: string | null = null) {
  return { id, name: 'get_weather', args: { location } };
}

export interface Run {
  tool: string;
  args: unknown;
  callId: string;
  threadId: string;
}

/** The two tools of the contract's demo agent; every run is noted, `onRun` may wait or throw. */
export function demoTools(runs: Run[], onRun: (run: Run) => unknown = () => undefined) {
  const note = async (tool: string, args: unknown, context: { callId: string; threadId: string }) => {
    const run = { tool, args, ...context };
    runs.push(run);
    await onRun(run);
  };
  return [
    defineTool({
      name: 'send_email',
      description: 'Sends an e-mail.',
      parameters: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
      execute: async (args, context) => {
        await note('send_email', args, context);
        return `Sent to ${args.to}.`;
      },
    }),
    defineTool({
      name: 'get_weather',
      description: 'Says the weather of a place.',
      parameters: z.object({ location: z.string() }),
      execute: async (args, context) => {
        await note('get_weather', args, context);
        return `It rains in ${args.location}.`;
      },
    }),
  ];
}

/** A model that answers from a script, then says `Done.`; what it was asked is kept. */
export function scriptedModel(replies: (ModelReply | Error)[]) {
  const requests: ModelRequest[] = [];
  const left = [...replies];
  const model: Model = (request) => {
    requests.push(structuredClone(request));
    const reply = left.length > 0 ? left.shift() : { content: 'Done.' };
    if (reply instanceof Error) throw reply;
    return structuredClone(reply) as ModelReply;
  };
  return { model, requests };
}

export interface RigOptions extends Partial<AgentOptions> {
  onRun?: (run: Run) => unknown;
}

/** The demo agent over a scripted model: `send_email` is gated, `get_weather` is not. */
export function rig(replies: (ModelReply | Error)[], { onRun, ...options }: RigOptions = {}) {
  const runs: Run[] = [];
  const { model, requests } = scriptedModel(replies);
  const agent = buildHumanInTheLoopAgent({
    model,
    tools: demoTools(runs, onRun),
    toolsRequiringApproval: ['send_email'],
    checkpointer: new MemoryCheckpointer(),
    ...options,
  });
  return { agent, runs, requests, ...calls(agent) };
}

/** Short forms of the two ways to invoke, on one thread. */
export function calls(agent: HumanInTheLoopAgent, thread = 'thread') {
  const configurable = { thread_id: thread };
  return {
    say: (text: string, recursionLimit?: number) =>
      agent.invoke({ messages: [text] }, { configurable, ...(recursionLimit ? { recursionLimit } : {}) }),
    decide: (decisions: unknown[], recursionLimit?: number) =>
      agent.invoke(new Command({ resume: { decisions } }), {
        configurable,
        ...(recursionLimit ? { recursionLimit } : {}),
      }),
    state: () => agent.getState({ configurable }),
  };
}

export const OTHER = { ...EMAIL, to: 'bob@example.com' };
export const edit = (args: object, name = 'send_email') => ({ type: 'edit', edited_action: { name, args } });
export const approve = { type: 'approve' };
export const reject = (message?: string) => ({
  type: 'reject',
  ...(message === undefined ? {} : { message }),
});

/** A turn stopped before the decision, with traces. */
export async function paused(reply: ModelReply, ...more: (ModelReply | Error)[]) {
  const parts = rig([reply, ...more]);
  const nodes: string[] = [];
  const config = {
    configurable: { thread_id: 'thread' },
    onStep: ({ node }: { node: string }) => nodes.push(node),
  };
  await parts.agent.invoke({ messages: ['go'] }, config);
  nodes.length = 0;
  const decide = (decisions: unknown[]) => parts.agent.invoke(new Command({ resume: { decisions } }), config);
  return { ...parts, decide, nodes };
}
