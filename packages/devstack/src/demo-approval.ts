import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { HitlAnswer, ThreadMessages } from '@plangate/contracts';
import { connectApi, type Say } from './demo-client.ts';

const MESSAGE = 'email alice@example.com that the meeting is at 10';

/** Longest time in milliseconds for this act, model calls of a real provider included. */
const LIMIT_MS = 180_000;

/**
 * The second act: an agent wants to send an e-mail, a person corrects it, and what was corrected is what was sent and
 * what the history says; through the public API, as any client would.
 * @param outbox folder that the agent writes e-mails to
 * @throws {Error} saying which step failed
 */
export async function runApprovalDemo(approvalUrl: string, outbox: string, say: Say): Promise<void> {
  const api = connectApi(approvalUrl, AbortSignal.timeout(LIMIT_MS));
  const heading = (text: string) => say(styleText('bold', `\n== ${text}`));

  heading('A person asks an agent that has tools');
  say(MESSAGE);
  const asked = await api.post('/hitl/chat', { message: MESSAGE }, HitlAnswer);
  const { thread_id, pending_review } = asked.body;
  const [action] = pending_review?.action_requests ?? [];
  if (action?.name !== 'send_email')
    throw new Error(`the agent does not want to send an e-mail: ${asked.body.answer}`);

  heading('The agent wants to send an e-mail; nothing is sent until a person decides');
  say(`${action.description}\n${JSON.stringify(action.args, null, 2)}`);

  heading('The person moves the meeting to 11 and lets it go');
  const args = { ...action.args, body: String(action.args['body']).replaceAll('10', '11') };
  say(JSON.stringify(args, null, 2));
  const decisions = [{ type: 'edit', edited_action: { name: action.name, args } }];
  const done = await api.post('/hitl/review', { thread_id, decisions }, HitlAnswer, asked.etag);
  say(`\n${done.body.answer ?? ''}`);

  heading('What was sent, and what the history says');
  const { messages } = (await api.get(`/hitl/threads/${thread_id}/messages`, ThreadMessages)).body;
  const call = messages.flatMap((message) => (message.role === 'assistant' ? message.tool_calls : []))[0];
  const result = messages.find((message) => message.role === 'tool');
  const file = /\b[0-9a-f]{32}\.eml\b/.exec(result?.content ?? '')?.[0];
  if (file) {
    say(styleText('dim', join(outbox, file)));
    say((await readFile(join(outbox, file), 'utf8')).trim());
  } else {
    say(result?.content ?? 'the call has no result');
  }
  say(`\nHistory: ${call?.name} ${JSON.stringify(call?.args)}`);
}
