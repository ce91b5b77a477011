import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import type { ModelReply } from '../../src/index.ts';

interface Decision {
  type: string;
  edited_action?: { name: string; args: Record<string, unknown> };
  message?: string;
}

/** The three nodes of the format's description as a LangGraph graph, over LangGraph's own tool node. */
export function langGraph(replies: ModelReply[], runs: unknown[]) {
  const left = [...replies];
  let said = 0;
  const tools = [
    tool(
      async (args: { to: string; subject: string; body: string }) => {
        runs.push(args);
        return `Sent to ${args.to}.`;
      },
      {
        name: 'send_email',
        description: 'Sends an e-mail.',
        schema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
      },
    ),
    tool(
      async (args: { location: string }) => {
        runs.push(args);
        return `It rains in ${args.location}.`;
      },
      { name: 'get_weather', description: 'Says the weather.', schema: z.object({ location: z.string() }) },
    ),
  ];

  const llmCall = async () => {
    const reply = left.shift() ?? { content: 'Done.' };
    const tool_calls = (reply.tool_calls ?? []).map(({ id, name, args }) => ({
      id: id ?? '',
      name,
      args: args as Record<string, unknown>,
    }));
    return {
      messages: [new AIMessage({ id: `ai-${++said}`, content: String(reply.content ?? ''), tool_calls })],
    };
  };

  const humanReview = async ({ messages }: { messages: BaseMessage[] }) => {
    const message = messages.at(-1) as AIMessage;
    const calls = message.tool_calls ?? [];
    const gated = calls.filter(({ name }) => name === 'send_email');
    if (gated.length === 0) return new Command({ goto: 'tool_node' });
    const { decisions } = interrupt<unknown, { decisions: Decision[] }>({
      action_requests: gated.map(({ name, args }) => ({
        name,
        args,
        description: `Tool \`${name}\` menunggu persetujuan`,
      })),
      review_configs: gated.map(({ name }) => ({
        action_name: name,
        allowed_decisions: ['approve', 'edit', 'reject'],
      })),
    });
    const results: ToolMessage[] = [];
    let changed = false;
    const revised = calls.map((call) => {
      const place = gated.indexOf(call);
      if (place === -1) return call;
      const decision = decisions[place] ?? {
        type: 'reject',
        message: 'No decision was given for this action. It was not executed.',
      };
      if (decision.type === 'edit' && decision.edited_action) {
        changed = true;
        return { ...call, ...decision.edited_action };
      }
      if (decision.type === 'reject') {
        const content = decision.message || 'User rejected this action. It was not executed.';
        results.push(
          new ToolMessage({ content, name: call.name, tool_call_id: call.id ?? '', status: 'error' }),
        );
      }
      return call;
    });
    const replaced = new AIMessage({ id: message.id ?? '', content: message.content, tool_calls: revised });
    return new Command({
      update: { messages: changed ? [replaced, ...results] : results },
      goto: results.length === calls.length ? 'llm_call' : 'tool_node',
    });
  };

  const route = ({ messages }: { messages: BaseMessage[] }) =>
    ((messages.at(-1) as AIMessage).tool_calls ?? []).length > 0 ? 'human_review' : END;

  return new StateGraph(MessagesAnnotation)
    .addNode('llm_call', llmCall)
    .addNode('human_review', humanReview, { ends: ['llm_call', 'tool_node'] })
    .addNode('tool_node', new ToolNode(tools))
    .addEdge(START, 'llm_call')
    .addConditionalEdges('llm_call', route, ['human_review', END])
    .addEdge('tool_node', 'llm_call')
    .compile({ checkpointer: new MemorySaver() });
}

/** LangGraph's messages in our spelling. */
export function spelled(messages: BaseMessage[]): { role: string; content: string }[] {
  return messages.map((message) => {
    const content = String(message.content);
    if (message instanceof HumanMessage) return { role: 'user', content };
    if (message instanceof ToolMessage) {
      const { name, tool_call_id, status } = message;
      return { role: 'tool', content, name, tool_call_id, status: status ?? 'success' };
    }
    const tool_calls = ((message as AIMessage).tool_calls ?? []).map(({ id, name, args }) => ({
      id,
      name,
      args,
    }));
    return { role: 'assistant', content, tool_calls };
  });
}
