import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlanRequest } from '@plangate/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { createLlmClient, LlmServiceError } from '../src/index.ts';

const REQUEST: PlanRequest = {
  query: 'q',
  context: {},
  conversation: [],
  current_plan: '',
  current_round: 0,
  max_rounds: 10,
};
const ANSWER = {
  message: 'Plan',
  intent: 'ready',
  plan: 'Plan',
  round: 0,
  model: 'm',
  provider: 'p',
  input_tokens: 1,
  output_tokens: 1,
};

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** An answer over the wire that llm-service would never give, or gives only when it fails. */
async function plan(listener: RequestListener, timeoutSeconds = 5) {
  server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return createLlmClient(`http://127.0.0.1:${port}`, timeoutSeconds).plan(REQUEST);
}

async function kindOf(answer: Promise<unknown>): Promise<string> {
  const error = await answer.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LlmServiceError)) throw new Error('no LlmServiceError');
  return error.kind;
}

const json =
  (status: number, body: unknown): RequestListener =>
  (_req, res) => {
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

describe('the way to llm-service', () => {
  it('a good answer comes back with the types of the contract', async () => {
    expect(await plan(json(200, ANSWER))).toEqual(ANSWER);
  });

  it.each([
    ['without required fields', { message: 'Plan' }],
    ['with an intent that does not exist', { ...ANSWER, intent: 'execute' }],
    ['without text', { ...ANSWER, message: ' \u200b ' }],
    ['with too much text', { ...ANSWER, message: 'a'.repeat(40_000) }],
  ])('P21 an answer %s is not trusted: the call has failed', async (_name, body) => {
    expect(await kindOf(plan(json(200, body)))).toBe('failed');
  });

  it('control characters of a model do not get through', async () => {
    const answer = await plan(json(200, { ...ANSWER, message: 'a\u0000b\r\nc', plan: null }));
    expect(answer.message).toBe('ab\nc');
  });

  it.each([
    [502, { error: 'x', code: 'provider_failed' }, 'failed'],
    [503, { error: 'LLM providers not configured', code: 'llm_not_configured' }, 'refused'],
    [503, { error: 'x', code: 'starting' }, 'away'],
    [400, { error: 'x', code: 'invalid_body' }, 'refused'],
  ])('status %i %j says whether asking again can help: %s', async (status, body, kind) => {
    expect(await kindOf(plan(json(status, body)))).toBe(kind);
  });

  it('the provider and the variable that is not set come with a refusal, and nothing that looks like neither', async () => {
    const refusal = { error: 'LLM providers not configured', code: 'llm_not_configured', provider: 'openai' };
    const missing = async (missing_key: string) => {
      const asked = plan(json(503, { ...refusal, missing_key }));
      return ((await asked.catch((error: unknown) => error)) as LlmServiceError).missing;
    };
    expect(await missing('OPENAI_API_KEY')).toEqual({ provider: 'openai', missing_key: 'OPENAI_API_KEY' });
    expect(await missing('<b>words</b> of a model')).toBeUndefined();
  });

  it('P51 a service that hangs is given up after the limit', async () => {
    expect(await kindOf(plan(() => {}, 0.2))).toBe('failed');
  });

  it('a connection that is reset, or refused, means that the service is away', async () => {
    expect(await kindOf(plan((req) => req.socket.resetAndDestroy()))).toBe('away');
    server.close();
    expect(await kindOf(createLlmClient('http://127.0.0.1:2', 1).plan(REQUEST))).toBe('away');
  });
});
