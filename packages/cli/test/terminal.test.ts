import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { asks, PLAN, ready } from '../../../test/support/model.ts';
import { type Product, startProduct } from '../../../test/support/product.ts';
import { CTRL_C, DOWN, ENTER, startTerminal, type Terminal } from './terminal.ts';

let product: Product;
let folder: string;
let terminal: Terminal | undefined;
beforeAll(async () => {
  product = await startProduct();
  folder = mkdtempSync(join(tmpdir(), 'plangate-terminal-'));
});
afterAll(async () => {
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => terminal?.stop());

function open(args: string[], env: Record<string, string> = {}): Terminal {
  terminal = startTerminal(args, { PLANGATE_URL: product.stack.gatewayUrl, ...env });
  return terminal;
}

const MENU = 'What shall happen with this plan?';
/** Moves to the n-th entry below the first and takes it. */
const choose = (n: number) => DOWN.repeat(n) + ENTER;

async function reviewed(query: string): Promise<string> {
  const id = await product.submit(query, { require_review: true });
  await product.review(id);
  return id;
}

test('a person reads the plan, asks for a change, edits it in the editor, approves, and reads the report', async () => {
  const query = 'What causes tides? CLI terminal';
  product.model.on(query, ({ kind, prompt }) =>
    kind === 'plan' && !prompt.includes('Round 0 of') ? ready(`${PLAN} Only for the Atlantic.`) : undefined,
  );
  const shown = open(
    ['submit', '--review', '--wait', query],
    editorThat('editor', 'printf " In two pages." >> "$1"'),
  );
  await shown.shows('Plan, version 1');
  await shown.shows(PLAN);
  await shown.shows(MENU);
  shown.type(choose(1));
  await shown.shows('What shall be different?');
  shown.type(`Only the Atlantic${ENTER}`);
  await shown.shows('The planner is at work');
  await shown.shows('Version 1 to 2:');
  await shown.shows('Only for the Atlantic.');
  await shown.shows('Plan, version 2');
  await shown.shows(MENU);
  shown.type(choose(2));
  await shown.shows('Version 2 to 3:');
  await shown.shows('In two pages.');
  await shown.shows(MENU);
  shown.type(ENTER);
  await shown.shows('Research started');
  await shown.shows('The review is closed: approved');
  await shown.shows('PROGRESS');
  await shown.shows('completed');
  await shown.shows('[1]');
  expect(await shown.ended).toBe(0);
  const [task] = (await product.ask('/api/v1/tasks?limit=1')).json.tasks;
  const plan = `${PLAN} Only for the Atlantic.\n In two pages.`;
  expect((await product.review(task.task_id)).current_plan).toBe(plan);
}, 90_000);

test('what others do is shown while the person reads, and nothing is decided on the old plan', async () => {
  const id = await reviewed('What causes tides? CLI live');
  const shown = open(['review', id]);
  await shown.shows('Plan, version 1');
  await shown.shows(MENU);
  await product.act(id, { action: 'edit', plan: 'Somebody else wrote this plan.' });
  await shown.shows('The review has changed meanwhile.');
  await shown.shows('Plan, version 2');
  await shown.shows('Somebody else wrote this plan.');
  await shown.shows(MENU);
  await product.act(id, { action: 'reject', reason: 'Not needed' });
  await shown.shows('The review is closed: rejected');
  await shown.shows('Not needed');
  expect(await shown.ended).toBe(5);
}, 60_000);

test('a text that is refused is kept in a file, and the review stays open', async () => {
  const id = await reviewed('What causes tides? Kept text');
  const shown = open(
    ['review', 'edit', id],
    editorThat('too-long', 'head -c 70000 /dev/zero | tr "\\0" x >> "$1"'),
  );
  await shown.shows('What you wrote is kept in ');
  expect(await shown.ended).not.toBe(0);
  expect(keptText(shown)).toMatch(/x{70000}\n$/);
  expect(await product.review(id)).toMatchObject({ status: 'reviewing', version: 1 });
}, 60_000);

/** An editor that runs this line of shell on the file `$1`. */
function editorThat(name: string, line: string): Record<string, string> {
  const editor = join(folder, `${name}.sh`);
  writeFileSync(editor, `#!/bin/sh\n${line}\n`);
  chmodSync(editor, 0o755);
  return { EDITOR: editor };
}

/** The text of the file that the terminal names, which is removed. */
function keptText(shown: Terminal): string {
  const [, file = ''] = /kept in (\S+text\.md)/.exec(shown.text()) ?? [];
  const kept = readFileSync(file, 'utf8');
  rmSync(dirname(file), { recursive: true });
  return kept;
}

test('characters that a terminal hides reach the editor as they are, and come back so', async () => {
  const id = await reviewed('What causes tides? Hidden characters');
  const plan = 'Tides \u202eof\u202c the\u200b sea.\n';
  await product.act(id, { action: 'edit', plan });
  const editor = editorThat('append', 'printf "More." >> "$1"');

  const alone = open(['review', 'edit', id], editor);
  await alone.shows('characters that are not seen');
  expect(await alone.ended).toBe(0);
  expect((await product.review(id)).current_plan).toBe(`${plan}\nMore.`);

  const shown = open(['review', id], editor);
  await shown.shows('Tides \\u{202e}of');
  await shown.shows(MENU);
  shown.type(choose(2));
  await shown.shows('characters that are not seen');
  await shown.shows('Plan, version 4');
  expect((await product.review(id)).current_plan).toBe(`${plan}\nMore.\nMore.`);
  await product.control(id, 'cancel');
  await shown.ended;

  const left = open(['review', 'edit', await reviewed('What causes tides? Left as it is')], {
    EDITOR: 'true',
  });
  await left.shows('The text is as it was, or empty: nothing was sent.');
  expect(await left.ended).toBe(1);
}, 60_000);

test('what is typed while somebody else acts is not lost: it is offered again, or kept where all is over', async () => {
  const id = await reviewed('What causes tides? CLI typing');
  const shown = open(['review', id]);
  await shown.shows(MENU);
  shown.type(choose(1));
  await shown.shows('What shall be different?');
  shown.type('Only the Atl');
  await shown.shows('Only the Atl');
  await product.act(id, { action: 'edit', plan: 'Somebody else wrote this plan.' });
  shown.type(`antic${ENTER}`);
  await shown.shows('The review has changed meanwhile.');
  await shown.shows('What you wrote is offered again.');
  await shown.shows('Somebody else wrote this plan.');
  await shown.shows(MENU);
  shown.type(choose(1));
  await shown.shows('Only the Atlantic');
  shown.type(ENTER);
  await shown.shows('The planner is at work');
  await shown.shows('Plan, version 3');
  const messages = (await product.review(id)).rounds.map(({ message }) => message);
  expect(messages).toContain('Only the Atlantic');

  await shown.shows(MENU);
  shown.type(choose(4));
  await shown.shows('Why?');
  shown.type('Wrong topic');
  await shown.shows('Wrong topic');
  await product.act(id, { action: 'reject', reason: 'Not needed' });
  shown.type(ENTER);
  await shown.shows('What you wrote is kept in ');
  await shown.shows('Not needed');
  expect(await shown.ended).toBe(5);
  expect(keptText(shown)).toBe('Wrong topic\n');
}, 60_000);

test('what an editor has written before it failed is kept, and the review goes on', async () => {
  const id = await reviewed('What causes tides? CLI failing editor');
  const shown = open(['review', id], editorThat('failing', 'printf "half" > "$1"; exit 3'));
  await shown.shows(MENU);
  shown.type(choose(2));
  await shown.shows('What you wrote is kept in ');
  await shown.shows('failed (exit code 3)');
  await shown.shows(MENU);
  shown.type(CTRL_C);
  expect(await shown.ended).toBe(130);
  expect(shown.text()).not.toContain('Whether it was taken');
  expect(keptText(shown)).toBe('half');

  const latin1 = open(['review', 'edit', id], editorThat('latin1', 'printf "K\\374sten" > "$1"'));
  await latin1.shows('what it wrote is not UTF-8 text');
  expect(await latin1.ended).toBe(1);
  keptText(latin1);
  expect(await product.review(id)).toMatchObject({ status: 'reviewing', version: 1 });
  await product.control(id, 'cancel');
}, 60_000);

test('an edit whose answer is lost is not said to have changed nothing, and its text is kept', async () => {
  const id = await reviewed('What causes tides? CLI lost answer');
  const losing = createServer(async (req, res) => {
    if (req.method === 'POST') return res.destroy();
    const answer = await fetch(`${product.stack.gatewayUrl}${req.url}`);
    res.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(losing, 'listening');
  const { port } = losing.address() as AddressInfo;
  const env = { ...editorThat('mine', 'printf "Mine" > "$1"'), PLANGATE_URL: `http://127.0.0.1:${port}` };
  const shown = open(['review', 'edit', id], env);
  await shown.shows('Whether it was taken is not known');
  expect(await shown.ended).toBe(7);
  expect(keptText(shown)).toBe('Mine\n');
  losing.close();
  losing.closeAllConnections();
  await product.control(id, 'cancel');
}, 60_000);

test('SIGTERM ends the command also while it asks', async () => {
  const id = await reviewed('What causes tides? CLI SIGTERM');
  for (const steps of [[], ['What shall be different?']]) {
    const shown = open(['review', id]);
    await shown.shows(MENU);
    for (const question of steps) {
      shown.type(choose(1));
      await shown.shows(question);
    }
    process.kill(shown.pid, 'SIGTERM');
    expect(await shown.ended).toBe(143);
  }
  await product.control(id, 'cancel');
}, 60_000);

test('a terminal that does not know its size is taken for one of 80 columns', async () => {
  const id = await reviewed('What causes tides? CLI without size');
  terminal = startTerminal(['review', id], { PLANGATE_URL: product.stack.gatewayUrl }, 'cols 0 rows 0');
  await terminal.shows('Plan, version 1');
  await terminal.shows(PLAN);
  await terminal.shows(MENU);
  await terminal.shows('Leave it open');
  terminal.type(choose(5));
  await terminal.shows('Nothing is decided; the review stays open');
  expect(await terminal.ended).toBe(0);
  const longest = Math.max(
    ...terminal
      .text()
      .split(/\r?\n/)
      .map((line) => line.length),
  );
  expect(longest).toBeGreaterThan(60);
  expect(longest).toBeLessThanOrEqual(100);
  await product.control(id, 'cancel');
}, 60_000);

test('a rejection asks for a reason, and the command ends with 5', async () => {
  const id = await reviewed('What causes tides? CLI reject');
  const shown = open(['review', id]);
  await shown.shows(MENU);
  shown.type(choose(4));
  await shown.shows('Why?');
  shown.type(`Wrong topic${ENTER}`);
  await shown.shows('research plan rejected: Wrong topic');
  expect(await shown.ended).toBe(5);
}, 60_000);

test('a question of the planner is answered, not approved', async () => {
  const query = 'What causes tides? CLI terminal question';
  product.model.on(query, ({ kind, prompt }) => {
    if (kind !== 'plan') return undefined;
    return prompt.includes('Round 0 of') ? asks('Which ocean?') : ready('Tides of the Atlantic.');
  });
  const id = await reviewed(query);
  const shown = open(['review', id]);
  await shown.shows('The planner asks');
  await shown.shows('Which ocean?');
  await shown.shows('What do you answer?');
  expect(shown.text()).not.toContain('Approve');
  shown.type(ENTER);
  await shown.shows('What shall be different?');
  shown.type(`The Atlantic${ENTER}`);
  await shown.shows('Tides of the Atlantic.');
  await shown.shows(MENU);
  shown.type(choose(5));
  await shown.shows('Nothing is decided; the review stays open');
  expect(await shown.ended).toBe(0);
  await product.control(id, 'cancel');
}, 60_000);

test('a review that runs out while the person reads ends the command with the reason', async () => {
  const id = await product.submit('What causes tides? CLI runs out', {
    require_review: true,
    review_timeout: 4,
  });
  const shown = open(['review', id]);
  await shown.shows(MENU);
  await shown.shows('The review is closed: timed_out');
  await shown.shows('research plan review timed out');
  expect(await shown.ended).toBe(5);
}, 60_000);

test('Ctrl-C decides nothing and ends with 130, at a question and in a wait', async () => {
  const id = await reviewed('What causes tides? CLI ctrl-c');
  const asking = open(['review', id]);
  await asking.shows(MENU);
  asking.type(CTRL_C);
  await asking.shows('Nothing is decided');
  expect(await asking.ended).toBe(130);
  expect((await product.review(id)).status).toBe('reviewing');

  const waiting = open(['status', id, '--wait']);
  await waiting.shows(`Waiting for the end of ${id}`);
  waiting.type(CTRL_C);
  expect(await waiting.ended).toBe(130);
  await product.control(id, 'cancel');
}, 60_000);

test('NO_COLOR leaves the colours of the command out on a terminal', async () => {
  const id = await reviewed('What causes tides? CLI colours');
  const coloured = open(['review', 'get', id]);
  expect(await coloured.ended).toBe(0);
  expect(coloured.raw()).not.toBe(coloured.text());
  const bare = open(['review', 'get', id], { NO_COLOR: '1' });
  expect(await bare.ended).toBe(0);
  expect(bare.raw()).toBe(bare.text());
  await product.control(id, 'cancel');
}, 60_000);
