import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChatMessage, ChatRequest, ChatToolCall } from '@plangate/contracts';

/** What the model does next: text, calls, or an answer that is none. */
export type Reply =
  | string
  | { calls: { id?: string; name: string; args: unknown }[]; content?: string }
  | { status: number; body: unknown };
export type Script = (messages: ChatMessage[], turn: number) => Reply | Promise<Reply>;

export interface ScriptedLlm {
  url: string;
  /** Answers the threads that begin with this message: with the replies in turn, the last one for ever, or as told. */
  on(firstMessage: string, script: Reply[] | Script): void;
  /** What was asked for those threads so far. */
  asked(firstMessage: string): ChatRequest[];
  stop(): Promise<void>;
}

/** A stand-in for llm-service on loopback whose model does what its test says. */
export async function startScriptedLlm(): Promise<ScriptedLlm> {
  const scripts = new Map<string, Reply[] | Script>();
  const asked = new Map<string, ChatRequest[]>();
  const server = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += String(chunk);
    if (req.url === '/health') return res.end('{}');
    const request = JSON.parse(text) as ChatRequest;
    const first = request.messages.find(({ role }) => role === 'user')?.content ?? '';
    const before = asked.get(first) ?? [];
    asked.set(first, [...before, request]);
    const script = scripts.get(first) ?? ['ok'];
    // Turns of one thread: replies that the model has given already stand in its messages.
    const turn = request.messages.filter(({ role }) => role === 'assistant').length;
    const reply =
      typeof script === 'function'
        ? await script(request.messages, turn)
        : (script[turn] ?? script.at(-1) ?? 'ok');
    const { status, body } = answer(reply, before.length);
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    on: (first, script) => void scripts.set(first, script),
    asked: (first) => asked.get(first) ?? [],
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(reply: Reply, number: number): { status: number; body: unknown } {
  if (typeof reply !== 'string' && 'status' in reply) return reply;
  const usage = { model: 'scripted', provider: 'scripted', input_tokens: 1, output_tokens: 1 };
  if (typeof reply === 'string') return { status: 200, body: { content: reply, tool_calls: [], ...usage } };
  const tool_calls = reply.calls.map(({ id, name, args }, index): ChatToolCall => {
    return {
      id: id ?? `c${number}-${index}`,
      name,
      args: typeof args === 'string' ? args : JSON.stringify(args),
    };
  });
  return { status: 200, body: { content: reply.content ?? '', tool_calls, ...usage } };
}
