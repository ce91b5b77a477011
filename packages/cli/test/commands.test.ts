import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asks, PLAN, REVISED } from '../../../test/support/model.ts';
import { type Product, startProduct } from '../../../test/support/product.ts';
import { readmeBlock } from '../../../test/support/readme.ts';
import { until } from '../../../test/support/until.ts';
import { COMMAND, type Ended, type RunOptions, runCommand, startCommand } from './run-command.ts';

let product: Product;
let url: string;
let folder: string;
beforeAll(async () => {
  product = await startProduct();
  url = product.stack.gatewayUrl;
  folder = mkdtempSync(join(tmpdir(), 'plangate-command-'));
});
afterAll(async () => {
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
});

const plangate = (args: string[], options: RunOptions = {}): Promise<Ended> =>
  runCommand(args, { ...options, env: { PLANGATE_URL: url, ...options.env } });

/** Runs it with --json, which must succeed. */
async function json(...args: string[]) {
  const { code, out, err } = await plangate([...args, '--json']);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`);
  return JSON.parse(out);
}

const COLOUR = new RegExp(String.fromCharCode(27));

describe('a task by script', () => {
  test('goes from submit to its report, every decision bound to the version that was seen', async () => {
    const submitted = await plangate(['submit', '--review', 'What', 'causes', 'tides?']);
    const id = submitted.out.trim();
    expect(submitted).toMatchObject({ code: 0, out: expect.stringMatching(/^task-[0-9A-Z]{26}\n$/) });
    expect(submitted.err).toContain(`plangate review ${id}`);

    const read = await plangate(['review', 'get', id]);
    expect(read.code).toBe(0);
    expect(read.out).toContain('version 1');
    expect(read.out).toContain(PLAN);
    expect(await json('review', 'get', id)).toMatchObject({ workflow_id: id, version: 1 });

    const revised = await plangate(['review', 'feedback', id, 'Only', 'open', 'sources', '--if-match', '1']);
    expect(revised.out).toContain('Version 2:');
    expect(revised.out).toContain(REVISED);
    const piped = await plangate(['review', 'edit', id, '--file', '-', '--if-match', '2'], {
      input: 'Explain tides.\n',
      inputAfterMs: 1_500,
    });
    expect(piped.out).toContain('version 3');
    writeFileSync(join(folder, 'plan.md'), 'Explain tides well.');
    const edited = await plangate(['review', 'edit', id, '--file', 'plan.md', '--if-match', '3'], {
      cwd: folder,
    });
    expect(edited.out).toContain('Explain tides well.');
    expect((await json('review', 'extend', id, '60', '--if-match', '4')).version).toBe(5);

    const changes = await plangate(['review', 'diff', id]);
    expect(changes.out).toContain('Version 3 to 4:');
    expect(changes.out).toContain('{+');
    expect(changes.out).not.toMatch(COLOUR);
    const all = await json('review', 'diff', id, '--from', '1', '--to', '4');
    expect(all).toMatchObject({ from: 1, to: 4 });

    const answered = await plangate(['review', 'feedback', id, '-', '--if-match', '5'], {
      input: 'Only the Atlantic\n',
    });
    expect(answered.out).toContain('Version 6:');
    const said = (await product.review(id)).rounds.map(({ message }) => message.trim());
    expect(said).toContain('Only the Atlantic');

    const approved = await plangate(['review', 'approve', id, '--if-match', '6']);
    expect(approved).toMatchObject({ code: 0, out: 'Research started\n' });
    const done = await plangate(['status', id, '--wait']);
    expect(done.code).toBe(0);
    expect(done.out).toContain('completed');
    expect(done.out).toContain('[1]');
    expect((await json('status', id)).result).toContain('[1]');

    const watched = await plangate(['watch', id, '--json']);
    expect(watched.code).toBe(0);
    const events = watched.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.at(0)).toMatchObject({ event: 'WORKFLOW_STARTED' });
    expect(events.at(-1)).toMatchObject({ event: 'WORKFLOW_COMPLETED' });
    const some = await plangate(['watch', id, '--types', 'PROGRESS', '--after', '3']);
    expect(some.out.split('\n').every((line) => line === '' || line.startsWith('PROGRESS'))).toBe(true);

    const versions = await plangate(['review', 'versions', id]);
    expect(versions.out.match(/^Version \d/gm)).toEqual([1, 2, 3, 4, 6].map((n) => `Version ${n}`));
    const audit = await plangate(['review', 'audit', id]);
    expect(audit.out).toMatch(/^AT +BY +ACTION/);
    expect(audit.out).toContain('approve');
    const list = await plangate(['tasks', '--status', 'completed']);
    expect(list.out).toContain(id);
    expect((await json('tasks', '--limit', '1')).tasks).toHaveLength(1);
  }, 120_000);

  test('a stale version is 4 and names the current one; a decision without one is refused', async () => {
    const id = await product.submit('What causes tides? CLI conflict', { require_review: true });
    await product.review(id);
    await product.act(id, { action: 'edit', plan: 'Somebody else wrote this.' });

    const stale = await plangate(['review', 'approve', id, '--if-match', '1']);
    expect(stale).toMatchObject({ code: 4, out: '' });
    expect(stale.err).toContain('plan has been updated');
    expect(stale.err).toContain('--if-match 2');
    const asJson = await plangate(['review', 'approve', id, '--if-match', '1', '--json']);
    expect(JSON.parse(asJson.err)).toMatchObject({ status: 409, code: 'version_conflict', version: 2 });

    const unseen = await plangate(['review', 'approve', id]);
    expect(unseen).toMatchObject({ code: 2, err: expect.stringContaining('say which version you saw') });
    expect((await product.review(id)).status).toBe('reviewing');
    const rejected = await plangate(['review', 'reject', id, '--unconditional', '--reason', 'Wrong topic']);
    expect(rejected).toMatchObject({ code: 0, out: expect.stringContaining('rejected') });
    expect(rejected.out).toContain('Wrong topic');

    const ended = await plangate(['status', id, '--wait']);
    expect(ended.code).toBe(5);
    expect(ended.out).toContain('research plan rejected: Wrong topic');
    expect((await plangate(['watch', id])).code).toBe(5);
  }, 60_000);

  test('submit --wait follows a task without a review to its answer, and one that times out ends with 5', async () => {
    const answered = await plangate(['submit', '--wait', '-'], {
      input: 'What is six times seven?',
      inputAfterMs: 1_500,
    });
    expect(answered).toMatchObject({ code: 0, out: expect.stringContaining('Forty-two.') });
    expect(answered.err).toContain('WORKFLOW_COMPLETED');
    const timedOut = await plangate([
      'submit',
      '--wait',
      '--review-timeout',
      '1',
      'What causes tides? CLI time-out',
    ]);
    expect(timedOut).toMatchObject({
      code: 5,
      out: expect.stringContaining('research plan review timed out'),
    });
  }, 60_000);

  test('pause, resume and cancel', async () => {
    const id = await product.submit('What causes tides? CLI control', { require_review: true });
    await product.review(id);
    expect((await plangate(['pause', id, '--reason', 'lunch'])).out).toBe('Pause signal sent\n');
    await until(async () => (await product.task(id)).status === 'TASK_STATUS_PAUSED');
    expect(await plangate(['pause', id])).toMatchObject({
      code: 4,
      err: expect.stringContaining('already paused'),
    });
    expect((await json('resume', id)).success).toBe(true);
    expect((await plangate(['cancel', id])).out).toBe('Task cancelled successfully\n');
  }, 60_000);

  test('a wait for the end of a task says that its plan waits for a person, and how to review it', async () => {
    const id = await product.submit('What causes tides? CLI open review', { require_review: true });
    const waiting = startCommand(['status', id, '--wait'], { env: { PLANGATE_URL: url } });
    await until(() => waiting.err().includes(`: plangate review ${id}\n`));
    expect(waiting.err()).toMatch(/The plan waits for a person, until \d{4}-\d\d-\d\dT\S+Z: plangate review/);
    expect(waiting.out()).toBe('');
    await product.approve(id);
    expect((await waiting.ended).code).toBe(0);
    const decided = await plangate(['status', id, '--wait']);
    expect(decided.code).toBe(0);
    expect(decided.err).not.toContain('waits for a person');
  }, 60_000);

  test('a plan that failed for want of a key says which variable is not set', async () => {
    const more = { provider_override: 'keyless' };
    const id = await product.submit('What causes tides? CLI keyless', { require_review: true }, more);
    const ended = await plangate(['status', id, '--wait']);
    expect(ended.code).toBe(5);
    expect(ended.out).toContain('failed: failed to generate research plan (');
    expect(ended.out).toContain('PLANGATE_KEY_THAT_NOBODY_SETS is not set');
    for (const command of [['watch'], ['review', 'get']]) {
      const { code, err } = await plangate([...command, id]);
      expect(code).toBe(5);
      expect(err).toContain('failed to generate research plan (the model provider');
      expect(err).toContain('PLANGATE_KEY_THAT_NOBODY_SETS is not set');
    }
  }, 60_000);

  test('a question of the planner is shown where a plan would be', async () => {
    const query = 'What causes tides? CLI question';
    product.model.on(query, ({ kind }) => (kind === 'plan' ? asks('Which ocean?') : undefined));
    const id = await product.submit(query, { require_review: true });
    expect((await plangate(['review', 'get', id])).out).toContain('Which ocean?');
    await product.control(id, 'cancel');
  }, 60_000);
});

describe('what goes wrong says what to do', () => {
  test.each([
    [[], 2, 'Usage: plangate'],
    [['frob'], 2, "unknown command 'frob'"],
    [['submit'], 2, "missing required argument 'question'"],
    [['submit', '--strategy', 'fast', 'q'], 2, 'Allowed choices are quick, standard, deep, academic'],
    [['submit', '--context', '[]', 'q'], 2, '--context must be a JSON object'],
    [['submit', '--review-timeout', 'soon', 'q'], 2, '--review-timeout must be a whole number'],
    [['submit', '--context', '{"requireReview":true}', 'q'], 2, "did you mean 'context.require_review'?"],
    [['status', 'task-unknown'], 3, 'plangate tasks shows yours'],
    [['review', 'get', 'task-unknown'], 3, 'Task not found'],
    [['review', 'diff', 'task-unknown'], 3, 'Review session not found or expired'],
    [['watch', 'task-unknown'], 3, 'Task not found'],
    [['review'], 2, 'review needs the id of a task'],
    [['review', 'aprove', 'task-unknown'], 2, '(Did you mean approve?)'],
    [['review', 'feedbak'], 2, '(Did you mean feedback?)'],
    [['review', 'task-unknown', 'task-other'], 2, 'takes the id of one task'],
    [['review', 'task-unknown'], 2, 'this is no terminal'],
    [['review', 'edit', 'task-unknown'], 2, 'this is no terminal'],
    [['tasks', '--limit', '0'], 2, '--limit must be a whole number from 1'],
    [['tasks', '--limit', '1000'], 2, 'Invalid limit parameter'],
    [['status', 'a b'], 2, 'Invalid'],
    [['tasks', '--url', 'localhost'], 2, '--url is no address: "localhost"; one is http://'],
    [['tasks', '--api-key', 'two words'], 2, '--api-key has characters that no key has'],
    [['tasks', '--url', 'http://127.0.0.1:2'], 7, 'npm start'],
    [['keys', 'list', '--redis', 'redis://:hunter2@127.0.0.1:1/0'], 7, 'Redis at 127.0.0.1:1 cannot be used'],
    [['keys', 'list', '--redis', 'nonsense'], 2, 'must look like redis://'],
    [['keys', 'list'], 2, 'say which Redis is the gateway'],
    [
      ['keys', 'create', '--user', 'a b', '--tenant', 't', '--redis', 'redis://127.0.0.1:1/0'],
      2,
      '--user must have',
    ],
  ])('%j ends with %i', async (args, code, text) => {
    const ended = await plangate(args);
    expect(ended).toMatchObject({ code, out: '' });
    expect(ended.err).toContain(text);
    expect(ended.err).not.toMatch(/ {4}at |hunter2/);
  });

  test.each([
    ['PLANGATE_URL', 'localhost:8080', 'PLANGATE_URL is no address: "localhost:8080"'],
    ['PLANGATE_API_KEY', 'two words', 'PLANGATE_API_KEY has characters that no key has'],
  ])('a bad %s is named as it is called there', async (name, value, text) => {
    const ended = await plangate(['tasks'], { env: { [name]: value } });
    expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringContaining(text) });
  });

  test('a gateway that is away is what a wait speaks of, not the plan', async () => {
    const away = await plangate(['review', 'get', 'task-unknown', '--url', 'http://127.0.0.1:2']);
    expect(away).toMatchObject({ code: 7, out: '' });
    expect(away.err).toContain('Plangate at http://127.0.0.1:2 cannot be reached');
    expect(away.err).not.toContain('Waiting');
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'a gateway that takes a connection and says nothing is told as such; %s ends the wait with %i',
    async (signal, code) => {
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const running = startCommand(['review', 'get', 'task-unknown', '--url', `http://127.0.0.1:${port}`]);
      await until(() => running.err().includes('has not answered yet'));
      running.interrupt(signal);
      expect((await running.ended).code).toBe(code);
      silent.close();
    },
  );

  test.each([
    [['watch', 'task-1']],
    [['review', 'get', 'task-1']],
    [['status', 'task-1', '--wait']],
    [['tasks']],
  ])('%j gives such a gateway up after --timeout', async (args) => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const ended = await plangate([...args, '--timeout', '1', '--url', `http://127.0.0.1:${port}`]);
    expect(ended).toMatchObject({ code: 7, out: '' });
    expect(ended.err).toMatch(/^GET \S+: no answer within [\d.]+ s$/m);
    silent.close();
  });

  test('a text that is not UTF-8 is refused, from a file and from standard input', async () => {
    const file = join(folder, 'latin1.md');
    writeFileSync(file, 'Gezeiten: K\u00fcsten', 'latin1');
    const edited = await plangate(['review', 'edit', 'task-1', '--file', file, '--unconditional']);
    expect(edited).toMatchObject({ code: 2, out: '', err: `${file} is not UTF-8 text\n` });
  });

  test('a request that has to wait for a limit says how long', async () => {
    let asked = 0;
    const limited = createHttpServer((_req, res) => {
      asked += 1;
      res.setHeader('Content-Type', 'application/json').setHeader('Retry-After', '1');
      if (asked === 1) res.writeHead(429).end('{"error":"Rate limit exceeded","code":"rate_limited"}');
      else res.end('{"tasks":[],"total_count":0}');
    }).listen(0, '127.0.0.1');
    await once(limited, 'listening');
    const { port } = limited.address() as AddressInfo;
    const { code, err } = await plangate(['tasks', '--url', `http://127.0.0.1:${port}`]);
    expect([code, err]).toEqual([0, expect.stringContaining('Too many requests: more in 1 s')]);
    limited.close();
    limited.closeAllConnections();
  });

  test('--help has the exit codes and --version the version', async () => {
    const help = await plangate(['--help']);
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toMatch(/ 0 {2}done\n[\s\S]* 7 {2}the gateway/);
    expect((await plangate(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('Ctrl-C ends a wait with 130 and leaves the task alone', async () => {
    const id = await product.submit('What causes tides? CLI interrupt', { require_review: true });
    await product.review(id);
    const running = startCommand(['watch', id], { env: { PLANGATE_URL: url } });
    await until(() => running.out().includes('RESEARCH_PLAN_READY'));
    running.interrupt();
    expect(await running.ended).toMatchObject({ code: 130, err: '' });
    expect((await product.task(id)).status).toBe('TASK_STATUS_RUNNING');
    await product.control(id, 'cancel');
  }, 60_000);
});

test('keys are made, listed and revoked', async () => {
  const { url: redis } = product.stack.redis;
  const env = { REDIS_URL: redis };
  const made = await plangate(['keys', 'create', '--user', 'ada', '--tenant', 'acme', '--json'], { env });
  const { key, record } = JSON.parse(made.out);
  expect(key).toMatch(/^pg_/);
  const listed = await plangate(['keys', 'list'], { env });
  expect(listed.out).toContain(record.id);
  expect(listed.out).not.toContain(key);
  expect(await plangate(['keys', 'revoke', record.id], { env })).toMatchObject({ code: 0 });
  const again = await plangate(['keys', 'revoke', record.id, '--redis', redis]);
  expect(again).toMatchObject({ code: 3, out: expect.stringContaining(`There is no key ${record.id}`) });
});

test('the example of the README runs as it stands', async () => {
  const example = readmeBlock('plangate command', 'bash');
  const script = example.replaceAll('npx plangate', `${process.execPath} ${COMMAND}`);
  const env = { ...process.env, PLANGATE_URL: url };
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { env, cwd: folder });
  expect(stdout).toContain('Research started');
  expect(stdout).toContain('[1]');
}, 60_000);

test.each([
  [[], 'say which command'],
  [['keys'], 'say which command'],
  [['frob'], "unknown command 'frob'"],
  [['review', 'get'], "missing required argument 'id'"],
  [['review', 'approve', 'task-1'], 'say which version you saw'],
  [['review', 'extend', 'task-1', 'soon', '--if-match', '1'], 'seconds'],
])('with --json a wrong use of %j is JSON on standard error too, and exit code 2', async (args, message) => {
  const { code, out, err } = await plangate(['--json', ...args]);
  expect([code, out]).toEqual([2, '']);
  expect(JSON.parse(err)).toEqual({ error: expect.stringContaining(message), code: 'usage' });
});
