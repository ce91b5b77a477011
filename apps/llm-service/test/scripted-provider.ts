import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer of the scripted provider, or what it does instead of answering. */
export type Step =
  | { do: 'text'; text: string; finish?: string }
  | { do: 'content'; content: unknown }
  | { do: 'json'; status?: number; headers?: Record<string, string>; body: unknown }
  | { do: 'bytes'; bytes: Uint8Array }
  | { do: 'hang' }
  | { do: 'hang after headers' }
  | { do: 'reset' }
  | { do: 'reset after headers' };

/** Chooses the step by the call itself, for suites whose calls come in no fixed order. */
export type Choose = (call: RecordedCall) => Step | Promise<Step>;

export interface RecordedCall {
  path: string;
  authorization: string | undefined;
  body: { model: string; messages: { role: string; content: unknown }[] };
  /** Milliseconds of a clock that never goes back. */
  at: number;
}

export interface ScriptedProvider {
  /** Base URL for a provider of kind `openai` or `openai-compatible`. */
  url: string;
  calls: RecordedCall[];
  /** Sets what the next calls get, in order; the last step is repeated. */
  script(...steps: (Step | Choose)[]): void;
  stop(): Promise<void>;
}

/** A server on loopback that speaks the OpenAI chat completions format and misbehaves as told. */
export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const calls: RecordedCall[] = [];
  let steps: (Step | Choose)[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const call: RecordedCall = {
      path: req.url ?? '',
      authorization: req.headers.authorization,
      body: JSON.parse(Buffer.concat(chunks).toString()),
      at: performance.now(),
    };
    calls.push(call);
    const next = steps.length > 1 ? steps.shift() : steps[0];
    const step = typeof next === 'function' ? await next(call) : next;
    run(step ?? { do: 'json', status: 500, body: { error: { message: 'no step' } } }, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    script(...next) {
      steps = next;
      calls.length = 0;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function run(step: Step, res: ServerResponse): void {
  switch (step.do) {
    case 'text':
      send(res, 200, completion(step.text, step.finish));
      return;
    case 'content':
      send(res, 200, completion(step.content));
      return;
    case 'json':
      send(res, step.status ?? 200, step.body, step.headers);
      return;
    case 'bytes':
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(step.bytes);
      return;
    case 'hang':
      return;
    case 'hang after headers':
      res.writeHead(200, { 'Content-Type': 'application/json' }).write('{"choices":');
      return;
    case 'reset':
      res.socket?.resetAndDestroy();
      return;
    case 'reset after headers':
      res.writeHead(200, { 'Content-Type': 'application/json' }).write('{"choices":', () => {
        res.socket?.resetAndDestroy();
      });
  }
}

/** A chat completion with the given content. */
export function completion(content: unknown, finish = 'stop'): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'scripted',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  };
}

function send(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}
