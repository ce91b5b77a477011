import { ChatAnswer, type ChatMessage, type ToolSchema } from '@plangate/contracts';
import { Settings } from '@plangate/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildAgent } from '../src/build-agent.ts';
import { offlineAgent } from '../src/offline/agent.ts';
import { type RunningApp, startApp } from './app.ts';
import { chatTools } from './chat-tools.ts';
import { cpuMilliseconds } from './cpu-time.ts';

const { models } = Settings.parse({});
let app: RunningApp;

beforeAll(async () => {
  const offline = offlineAgent(() => Promise.reject(new Error('a chat needs no documents')));
  app = await startApp(buildAgent({ models, environment: {}, offline }));
});
afterAll(() => app.stop());

async function chat(messages: ChatMessage[], tools: ToolSchema[] = chatTools): Promise<ChatAnswer> {
  const { status, body } = await app.post('/agent/chat', { messages, tools });
  expect(status).toBe(200);
  return ChatAnswer.parse(body);
}
const user = (content: string): ChatMessage => ({ role: 'user', content });
async function calls(sentence: string, tools?: ToolSchema[]): Promise<[string, unknown][]> {
  const { tool_calls } = await chat([user(sentence)], tools);
  return tool_calls.map(({ name, args }) => [name, JSON.parse(args)]);
}
const email = (to: string, subject: string, body: string) => ['send_email', { to, subject, body }];
const weather = (location: string) => ['get_weather', { location }];

describe('a plain sentence becomes calls', () => {
  const MEETING = email('alice@example.com', 'Meeting', 'The meeting is at 10.');
  const RAPAT = email('budi@example.com', 'Rapat', 'Rapat jam 10.');
  test.each<[string, unknown[]]>([
    ['email alice@example.com that the meeting is at 10', [MEETING]],
    ['Please send an e-mail to alice@example.com saying that the meeting is at 10.', [MEETING]],
    ['Email alice@example.com: the meeting is at 10', [MEETING]],
    ['kirim email ke budi@example.com bahwa rapat jam 10', [RAPAT]],
    ['Tolong kirimkan surel kepada budi@example.com yang isinya rapat jam 10', [RAPAT]],
    ['what is the weather in Jakarta', [weather('Jakarta')]],
    ["What's the weather like in New York today?", [weather('New York')]],
    ['bagaimana cuaca di Bandung', [weather('Bandung')]],
    ['Cuaca di Bandung hari ini bagaimana?', [weather('Bandung')]],
    ['weather in Jakarta and Bandung', [weather('Jakarta'), weather('Bandung')]],
    [
      'Email alice@example.com that the meeting is at 10 and tell me the weather in Jakarta.',
      [MEETING, weather('Jakarta')],
    ],
    [
      'What is the weather in Jakarta, and then email alice@example.com that the meeting is at 10',
      [weather('Jakarta'), MEETING],
    ],
    [
      'kirim email ke budi@example.com bahwa rapat jam 10 dan bagaimana cuaca di Bandung?',
      [RAPAT, weather('Bandung')],
    ],
    [
      'Email alice@example.com and bob@example.com that the meeting is at 10',
      [MEETING, email('bob@example.com', 'Meeting', 'The meeting is at 10.')],
    ],
    [
      'email alice@example.com that the meeting is at 10, then email bob@example.com about lunch',
      [MEETING, email('bob@example.com', 'Lunch', 'Lunch.')],
    ],
  ])('%s', async (sentence, expected) => {
    expect(await calls(sentence)).toEqual(expected);
  });

  test('only for tools that are offered', async () => {
    expect(await calls('email alice@example.com that the meeting is at 10', [chatTools[0]!])).toEqual([]);
  });

  const ticket: ToolSchema = {
    name: 'create_ticket',
    description: 'Opens a ticket.',
    parameters: {
      type: 'object',
      properties: {
        title: { type: 'string' },
        priority: { enum: ['low', 'high'] },
        copies: { type: 'integer' },
        urgent: { type: 'boolean' },
        labels: { type: 'array', items: { type: 'string' } },
      },
      required: ['title', 'priority'],
    },
  };
  test.each<[string, unknown]>([
    [
      'create ticket with title "Leak, in hall 3" and priority high',
      { title: 'Leak, in hall 3', priority: 'high' },
    ],
    [
      'Please create_ticket title: Leak, priority: HIGH, copies: 3, urgent: yes, labels: a and b',
      { title: 'Leak', priority: 'high', copies: 3, urgent: true, labels: ['a', 'b'] },
    ],
  ])('any tool by its schema: %s', async (sentence, args) => {
    expect(await calls(sentence, [...chatTools, ticket])).toEqual([['create_ticket', args]]);
  });

  test('a field that the schema requires and the sentence lacks is asked for', async () => {
    const { content, tool_calls } = await chat([user('create ticket title Leak')], [ticket]);
    expect([content, tool_calls]).toEqual(['For create_ticket I still need: priority.', []]);
  });
});

describe('what it says', () => {
  const asked = user('kirim email ke budi@example.com bahwa rapat jam 10 dan bagaimana cuaca di Bandung?');
  const wish: ChatMessage = {
    role: 'assistant',
    content: '',
    tool_calls: [
      { id: 'a', name: 'send_email', args: '{}' },
      { id: 'b', name: 'get_weather', args: '{}' },
    ],
  };
  const result = (id: string, name: string, content: string, status: 'success' | 'error'): ChatMessage => ({
    role: 'tool',
    tool_call_id: id,
    name,
    content,
    status,
  });

  test('H06 results and rejections become a sentence each, with the exact reason', async () => {
    const { content, tool_calls } = await chat([
      asked,
      wish,
      result('a', 'send_email', 'Salah alamat.', 'error'),
      result('b', 'get_weather', 'Bandung: 23 °C.', 'success'),
    ]);
    expect(content).toBe('send_email tidak berhasil: Salah alamat.\nBandung: 23 °C.');
    expect(tool_calls).toEqual([]);
  });

  test('P69 after a rejection it does not ask again', async () => {
    const rejected = 'User rejected this action. It was not executed.';
    const { content, tool_calls } = await chat([
      user('email alice@example.com that the meeting is at 10'),
      { ...wish, tool_calls: [wish.tool_calls[0]!] },
      result('a', 'send_email', rejected, 'error'),
    ]);
    expect(content).toBe(`send_email did not go through: ${rejected}`);
    expect(tool_calls).toEqual([]);
  });

  test('a new message starts afresh', async () => {
    const { tool_calls } = await chat([
      asked,
      wish,
      result('a', 'send_email', 'ok', 'success'),
      result('b', 'get_weather', 'ok', 'success'),
      { role: 'assistant', content: 'ok', tool_calls: [] },
      user('what is the weather in Jakarta'),
    ]);
    expect(tool_calls.map(({ args }) => args)).toEqual(['{"location":"Jakarta"}']);
  });

  test.each([
    ['hello', 'I am the offline provider'],
    ['halo, apa yang bisa kamu lakukan?', 'Saya penyedia luring'],
  ])('it says honestly what it is: %s', async (sentence, start) => {
    const answer = await chat([user(sentence)]);
    expect(answer.content.startsWith(start)).toBe(true);
    expect(answer).toMatchObject({ provider: 'offline', tool_calls: [] });
  });

  test('the same conversation gives the same answer', async () => {
    expect(await chat([asked])).toEqual(await chat([asked]));
  });

  test.each([
    'email a@b.co that weather in and then create ticket title '.repeat(1_200),
    // A wish, and no end of leading on to another one.
    `email a@b.co hello${' and'.repeat(16_000)} !x`,
  ])('a long sentence of its own words ends soon (%#)', async (sentence) => {
    expect(await cpuMilliseconds(() => chat([user(sentence)]))).toBeLessThan(5_000);
  });
});
