import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Settings, SettingsError } from '@plangate/service';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentTool, createTools } from '../src/tools/index.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plangate-outbox-'));
});
afterAll(() => rm(folder, { recursive: true }));

function toolsOf(settings: object, environment: NodeJS.ProcessEnv = {}): Record<string, AgentTool> {
  const { approval_agent } = Settings.parse({ approval_agent: settings });
  return Object.fromEntries(createTools(approval_agent, environment).map((tool) => [tool.name, tool]));
}
const call = (id = 'call-1') => ({ id, signal: new AbortController().signal });
const MAIL = { to: 'alice@example.com', subject: 'Meeting', body: 'The meeting is at 10.' };

describe('get_weather', () => {
  const { get_weather } = toolsOf({});

  test('is free, and says where it has the weather from', async () => {
    expect(get_weather!.approval).toBe('never');
    expect(await get_weather!.run({ location: 'jakarta' }, call())).toMatch(
      /^Jakarta: .*\(from a small built-in table of usual weather, not a forecast\)\.$/,
    );
  });

  test.each(['Atlantis', '__proto__', 'constructor', ''])(
    'knows nothing of %s and says so',
    async (location) => {
      expect(await get_weather!.run({ location }, call())).toBe(
        `No weather for ${location} (from a small built-in table of usual weather, not a forecast).`,
      );
    },
  );
});

describe('send_email without a mail server', () => {
  const outbox = () => join(folder, 'outbox');
  const tool = () =>
    toolsOf({ email: { outbox: outbox(), from: 'Plangate <agent@plangate.test>' } })['send_email']!;
  const read = async (id: string) => simpleParser(await readFile(join(outbox(), `${id}.eml`)));

  test('wants an approval and is the only tool that does', () => {
    const tools = Object.values(toolsOf({}));
    expect(tools.map(({ name, approval }) => [name, approval])).toEqual([
      ['get_weather', 'never'],
      ['send_email', 'required'],
    ]);
  });

  test('writes a message that a mail program reads, and nothing else', async () => {
    const said = await tool().run(MAIL, call('one'));
    expect(said).toBe(
      'E-mail to alice@example.com with the subject "Meeting" was written to the outbox as one.eml.',
    );
    const mail = await read('one');
    expect([mail.subject, mail.text?.trim(), mail.from?.text]).toEqual([
      'Meeting',
      'The meeting is at 10.',
      '"Plangate" <agent@plangate.test>',
    ]);
    expect(mail.messageId).toBe('<one@plangate.test>');
    expect(await readdir(outbox())).toEqual(['one.eml']);
    const lines = (await readFile(join(outbox(), 'one.eml'), 'latin1')).split('\r\n');
    expect(lines.some((line) => line.includes('\n'))).toBe(false);
  });

  test('carries any text unharmed, long lines and other scripts too', async () => {
    const body = `会議は10時です。\n${'長'.repeat(500)}\n.\nFrom here`;
    await tool().run({ to: 'budi@example.com', subject: 'Rapat 会議 "x"', body }, call('two'));
    const mail = await read('two');
    expect([mail.subject, mail.text?.trim()]).toEqual(['Rapat 会議 "x"', body]);
    const raw = await readFile(join(outbox(), 'two.eml'), 'latin1');
    expect(raw.split('\r\n').every((line) => line.length <= 998 && /^[\x20-\x7e\t]*$/.test(line))).toBe(true);
  });

  test('a line break in subject makes no header', async () => {
    await tool().run({ ...MAIL, subject: 'Hi\r\nBcc: eve@example.com' }, call('break'));
    const mail = await read('break');
    expect(mail.headers.has('bcc')).toBe(false);
  });

  // The last two are groups, whose only member is Eve.
  test.each([
    'nobody',
    'alice@',
    '',
    'a@b, nobody',
    'alice@example.com\r\nBcc: eve@example.com',
    'alice@example.com: eve@example.com;',
  ])('%j is no recipient: nothing is written', async (to) => {
    const before = await readdir(outbox());
    await expect(tool().run({ ...MAIL, to }, call('none'))).rejects.toThrow('a recipient is no address');
    expect(await readdir(outbox())).toEqual(before);
  });

  test('P61 a call that was written once is not written again', async () => {
    await tool().run(MAIL, call('three'));
    await expect(tool().run({ ...MAIL, body: 'other' }, call('three'))).rejects.toThrow(/EEXIST/);
    expect((await read('three')).text?.trim()).toBe('The meeting is at 10.');
  });

  test('the id of a call names no file outside of the folder', async () => {
    await tool().run(MAIL, call('../../x'));
    expect(await readdir(outbox())).toContain('------x.eml');
  });

  test('an outbox that cannot be written is a fault', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const { send_email } = toolsOf({ email: { outbox: file } });
    await expect(send_email!.run(MAIL, call())).rejects.toThrow();
  });
});

describe('send_email with a mail server', () => {
  let server: MailServer;
  beforeAll(async () => {
    server = await startMailServer({ user: 'plangate', password: 'secret' });
  });
  afterAll(() => server.stop());
  const tool = (password = 'secret') => {
    const smtp = { host: '127.0.0.1', port: server.port, user: 'plangate', password_env: 'SMTP_PASSWORD' };
    return toolsOf({ email: { smtp, from: 'agent@plangate.test' } }, { SMTP_PASSWORD: password })[
      'send_email'
    ]!;
  };

  test('hands the message over once, to each recipient', async () => {
    const said = await tool().run({ ...MAIL, to: 'alice@example.com, Bob <bob@example.com>' }, call('four'));
    expect(said).toContain('was handed to the mail server');
    expect(server.received).toHaveLength(1);
    const { recipients, sender, message } = server.received[0]!;
    expect([sender, recipients]).toEqual(['agent@plangate.test', ['alice@example.com', 'bob@example.com']]);
    const mail = await simpleParser(message);
    expect([mail.subject, mail.text?.trim(), mail.messageId]).toEqual([
      'Meeting',
      'The meeting is at 10.',
      '<four@plangate.test>',
    ]);
  });

  test.each([
    ['a wrong password', () => tool('wrong').run(MAIL, call())],
    ['a recipient that the server refuses', () => tool().run({ ...MAIL, to: 'refused@example.com' }, call())],
    ['a message that the server refuses', () => tool().run({ ...MAIL, subject: 'refused' }, call())],
  ])('%s is a fault', async (_name, run) => {
    const before = server.received.length;
    await expect(run()).rejects.toThrow();
    expect(server.received).toHaveLength(before);
  });

  test('a password goes to no other machine in plain text', async () => {
    // An address of this machine that is no loopback one.
    const smtp = { host: '0.0.0.0', port: server.port, user: 'plangate', password_env: 'SMTP_PASSWORD' };
    const { send_email } = toolsOf({ email: { smtp } }, { SMTP_PASSWORD: 'secret' });
    const before = server.logins.length;
    await expect(send_email!.run(MAIL, call())).rejects.toThrow();
    expect(server.logins).toHaveLength(before);
  });

  test('a server that is away is a fault', async () => {
    const { send_email } = toolsOf({ email: { smtp: { host: '127.0.0.1', port: 1 } } });
    await expect(send_email!.run(MAIL, call())).rejects.toThrow();
  });

  test('a password that is not set stops the start', () => {
    const smtp = { host: '127.0.0.1', user: 'plangate', password_env: 'SMTP_PASSWORD' };
    expect(() => toolsOf({ email: { smtp } })).toThrow(SettingsError);
    expect(() => toolsOf({ email: { smtp } })).toThrow('SMTP_PASSWORD is not set');
  });
});
