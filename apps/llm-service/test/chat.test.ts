import type { ChatMessage } from '@plangate/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildAgent } from '../src/build-agent.ts';
import { type RunningApp, startApp } from './app.ts';
import { chatTools } from './chat-tools.ts';
import { noOffline } from './no-offline.ts';
import { completion, type ScriptedProvider, type Step, startScriptedProvider } from './scripted-provider.ts';

const KEY = 'sk-secret-0123456789';
const USER: ChatMessage = { role: 'user', content: 'Email alice@example.com that the meeting is at 10.' };

let provider: ScriptedProvider;
const apps: RunningApp[] = [];

beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  provider = await startScriptedProvider();
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()));
});
afterAll(() => provider.stop());

type Kind = 'openai' | 'openai-compatible';

async function start(kind: Kind = 'openai-compatible', seconds = 20): Promise<RunningApp> {
  const tiers = { small: 'm-small', medium: 'm-medium', large: 'm-large' };
  const agent = buildAgent({
    models: {
      provider: 'main',
      timeout_seconds: seconds,
      providers: {
        main: { kind, api_key_env: 'MAIN_KEY', base_url: provider.url, tiers },
        keyless: { kind, api_key_env: 'OTHER_KEY', base_url: provider.url, tiers },
      },
    },
    environment: { MAIN_KEY: KEY },
    offline: noOffline,
  });
  const app = await startApp(agent);
  apps.push(app);
  return app;
}

const chat = (app: RunningApp, messages: unknown[] = [USER], more: object = {}) =>
  app.post('/agent/chat', { messages, tools: chatTools, ...more });

/** An answer that calls tools, in the OpenAI format. */
function calling(...calls: { id?: string; name: string; args: string }[]): Step {
  const body = completion(null, 'tool_calls') as { choices: { message: Record<string, unknown> }[] };
  body.choices[0]!.message['tool_calls'] = calls.map(({ id, name, args }) => ({
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { name, arguments: args },
  }));
  return { do: 'json', body };
}

describe.each<Kind>(['openai', 'openai-compatible'])('a provider of kind %s', (kind) => {
  test('calls come back with id, name and the text of their arguments, in their order', async () => {
    provider.script(
      calling(
        { id: 'c1', name: 'get_weather', args: '{"location": "Jakarta"}' },
        { id: 'c2', name: 'send_email', args: '{"to":"a@example.com","subject":"s","body":"b"}' },
        { id: 'c1', name: 'get_weather', args: '{ "location" : "Bandung" }' },
      ),
    );
    const { status, body } = await chat(await start(kind));
    expect(status).toBe(200);
    expect(body).toEqual({
      content: '',
      tool_calls: [
        { id: 'c1', name: 'get_weather', args: '{"location": "Jakarta"}' },
        { id: 'c2', name: 'send_email', args: '{"to":"a@example.com","subject":"s","body":"b"}' },
        { id: 'c1', name: 'get_weather', args: '{ "location" : "Bandung" }' },
      ],
      model: 'm-medium',
      provider: 'main',
      input_tokens: 11,
      output_tokens: 7,
    });
  });

  test.each([
    ['broken JSON', 'send_email', '{"to":'],
    ['no object', 'send_email', '[1]'],
    ['arguments that do not fit the schema', 'send_email', '{"to":5}'],
    ['a tool that nobody offered', 'delete_all', '{}'],
    ['a member that JSON.parse would take as a prototype', 'send_email', '{"__proto__":{"x":1}}'],
  ])('P77 %s survives to whoever runs the tool', async (_name, name, args) => {
    provider.script(calling({ id: 'c1', name, args }));
    const { status, body } = await chat(await start(kind));
    expect([status, body['tool_calls']]).toEqual([200, [{ id: 'c1', name, args }]]);
    expect(provider.calls).toHaveLength(1);
  });

  test('a call without an id gets one', async () => {
    provider.script(calling({ name: 'get_weather', args: '{}' }));
    const { body } = await chat(await start(kind));
    expect(body['tool_calls']).toEqual([{ id: expect.stringMatching(/./), name: 'get_weather', args: '{}' }]);
  });

  test('text comes back as text, and the provider is told of the tools and of the conversation', async () => {
    provider.script({ do: 'text', text: 'Done. ' });
    const { body } = await chat(await start(kind), [
      { role: 'system', content: 'BE BRIEF' },
      USER,
      {
        role: 'assistant',
        content: 'I will.',
        tool_calls: [
          { id: 'c1', name: 'send_email', args: '{"to":"a@example.com","subject":"s","body":"at 11"}' },
          { id: 'c2', name: 'send_email', args: '{"to":' },
          { id: 'c3', name: 'send_email', args: `{"to":${'['.repeat(30_000)}${']'.repeat(30_000)}}` },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', name: 'send_email', content: 'Sent.' },
      { role: 'tool', tool_call_id: 'c2', name: 'send_email', content: 'Error: not JSON.', status: 'error' },
      { role: 'tool', tool_call_id: 'c3', name: 'send_email', content: 'Error: too deep.', status: 'error' },
    ]);
    expect(body).toMatchObject({ content: 'Done.', tool_calls: [] });
    const sent = provider.calls[0]!.body as unknown as Record<string, unknown>;
    expect(sent['tools']).toEqual([
      { type: 'function', function: expect.objectContaining({ name: 'get_weather' }) },
      {
        type: 'function',
        function: expect.objectContaining({ name: 'send_email', parameters: chatTools[1]!.parameters }),
      },
    ]);
    expect(sent['messages']).toEqual([
      { role: 'system', content: 'BE BRIEF' },
      { role: 'user', content: USER.content },
      expect.objectContaining({
        role: 'assistant',
        content: 'I will.',
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: {
              name: 'send_email',
              arguments: '{"to":"a@example.com","subject":"s","body":"at 11"}',
            },
          },
          { id: 'c2', type: 'function', function: { name: 'send_email', arguments: '{}' } },
          { id: 'c3', type: 'function', function: { name: 'send_email', arguments: '{}' } },
        ],
      }),
      { role: 'tool', tool_call_id: 'c1', content: 'Sent.' },
      { role: 'tool', tool_call_id: 'c2', content: 'Error: not JSON.' },
      { role: 'tool', tool_call_id: 'c3', content: 'Error: too deep.' },
    ]);
  });

  test.each<[string, Step]>([
    ['neither text nor a call', { do: 'content', content: null }],
    ['white space', { do: 'text', text: ' \n' }],
    ['more than 32 KiB of text', { do: 'text', text: `${'a'.repeat(32 * 1024)}b` }],
    ['arguments of more than 64 KiB', calling({ name: 'get_weather', args: `"${'a'.repeat(65_536)}"` })],
    ['65 calls', calling(...Array.from({ length: 65 }, () => ({ name: 'get_weather', args: '{}' })))],
    ['finish_reason length', { do: 'text', text: 'Half', finish: 'length' }],
    ['garbage', { do: 'bytes', bytes: Buffer.from('<html>') }],
    ['401', { do: 'json', status: 401, body: { error: { message: `Incorrect API key: ${KEY}` } } }],
  ])('%s is a failure, tried once, told without internals', async (_name, step) => {
    provider.script(step);
    const { status, body, text } = await chat(await start(kind));
    expect(status).toBe(502);
    expect(body).toEqual({ error: 'The model provider failed', code: 'provider_failed' });
    expect(text).not.toMatch(/sk-secret|127\.0\.0\.1/);
    expect(provider.calls).toHaveLength(1);
  });
});

test('500 twice and then a call is that call, once', async () => {
  const fault: Step = { do: 'json', status: 500, headers: { 'Retry-After': '0' }, body: { error: {} } };
  provider.script(fault, fault, calling({ id: 'c1', name: 'get_weather', args: '{}' }));
  const { body } = await chat(await start());
  expect(body['tool_calls']).toHaveLength(1);
  expect(provider.calls).toHaveLength(3);
});

test('a provider that hangs is given up at the limit', async () => {
  provider.script({ do: 'hang' });
  expect((await chat(await start('openai', 0.5))).status).toBe(502);
});

test('without its key the provider is 503', async () => {
  expect(await chat(await start(), [USER], { provider_override: 'keyless' })).toMatchObject({
    status: 503,
    body: { error: 'LLM providers not configured', code: 'llm_not_configured' },
  });
});

test.each<[string, object]>([
  ['messages', { messages: [] }],
  ['messages', { messages: [{ role: 'user', content: 'a'.repeat(4 * 1024 * 1024) }] }],
  ['messages.0.role', { messages: [{ role: 'developer', content: 'x' }] }],
  [
    'messages.0.tool_calls.0.args',
    {
      messages: [{ role: 'assistant', content: '', tool_calls: [{ id: '1', name: 'x', args: {} }] }],
    },
  ],
  ['tools.0.name', { tools: [{ ...chatTools[0], name: 'get weather' }] }],
  ['tools.0.parameters.type', { tools: [{ ...chatTools[0], parameters: { type: 'string' } }] }],
  ['tools', { tools: [chatTools[0], chatTools[0]] }],
])('a body with a wrong %s is 400 and names it', async (field, fault) => {
  const app = await start();
  const { status, body } = await app.post('/agent/chat', { messages: [USER], tools: chatTools, ...fault });
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'invalid_body', field });
});
