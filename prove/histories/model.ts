import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlanAnswer, PlanRequest } from '@plangate/contracts';
import type { ModelCall } from './recording.ts';
import type { Reply } from './script.ts';

/** An llm-service on loopback: what it answers is written in the feedback itself. */
export interface ScriptedModel {
  url: string;
  /** Takes the calls of a history out: those with this query. */
  take(query: string): Map<string, ModelCall>;
  stop(): Promise<void>;
}

/** The text of a feedback that makes the model answer so, after so many milliseconds. */
export function feedbackText(id: string, reply: Reply, delay: number): string {
  return `${id} ${reply} ${delay}`;
}

export async function startScriptedModel(): Promise<ScriptedModel> {
  const calls = new Map<string, Map<string, ModelCall>>();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    if (req.method === 'GET') return void res.end('{}');
    const request = JSON.parse(Buffer.concat(chunks).toString()) as PlanRequest;
    const message = request.conversation.at(-1)?.message ?? '';
    const [id = '', reply, delay] = message.split(' ');
    const call: ModelCall = { received: performance.now(), answered: Infinity, request, answer: null };
    const ofQuery = calls.get(request.query) ?? new Map<string, ModelCall>();
    calls.set(request.query, ofQuery.set(message, call));
    if (delay !== '0') await new Promise((resolve) => setTimeout(resolve, Number(delay)));
    call.answered = performance.now();
    call.answer = answerTo(reply as Reply, `Plan of ${id}`, request.current_round);
    send(res, reply as Reply, call.answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take(query) {
      const taken = calls.get(query) ?? new Map<string, ModelCall>();
      calls.delete(query);
      return taken;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function answerTo(reply: Reply, message: string, round: number): PlanAnswer | null {
  const usage = { model: 'scripted', provider: 'scripted', input_tokens: 1, output_tokens: 1 };
  const common = { message, round, ...usage };
  switch (reply) {
    case 'plan':
      return { ...common, intent: 'ready', plan: message };
    case 'question':
      return { ...common, intent: 'feedback', plan: null };
    case 'keep':
      return { ...common, intent: 'ready', plan: null };
    default:
      return null;
  }
}

function send(res: ServerResponse, reply: Reply, answer: PlanAnswer | null): void {
  if (reply === 'cut') return void res.destroy();
  if (reply === 'fail') res.statusCode = 502;
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify(answer ?? { error: 'scripted', code: 'provider_failed' }));
}
