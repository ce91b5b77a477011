import { link, mkdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLoopback } from '@plangate/http';
import type { EmailSettings } from '@plangate/service';
import { createTransport } from 'nodemailer';
import addressParser from 'nodemailer/lib/addressparser';
import type { CallContext } from './tool.ts';

export interface Mail {
  from: string;
  to: string;
  subject: string;
  text: string;
}

/** Hands a message over; resolves with a sentence that says where it is. */
export type Deliver = (mail: Mail, call: CallContext) => Promise<string>;

/** How long a mail server may be silent, in milliseconds. */
const SILENCE_LIMIT_MS = 20_000;

/**
 * Writes messages as `.eml` files (RFC 5322) into a folder, each named after its call, and never over another one.
 * A file is there whole or not at all.
 */
export function outbox(folder: string): Deliver {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return async (mail, call) => {
    checkRecipients(mail.to);
    const { message } = await composer.sendMail({ ...plain(mail), messageId: messageId(mail, call) });
    if (!Buffer.isBuffer(message)) throw new Error('the composer gave no buffer');
    await mkdir(folder, { recursive: true });
    const name = `${call.id.replace(/[^A-Za-z0-9_-]/g, '-')}.eml`;
    const part = join(folder, `.${name}.part`);
    await writeFile(part, message, { flag: 'w', flush: true });
    try {
      await link(part, join(folder, name));
    } finally {
      await unlink(part);
    }
    return `E-mail to ${mail.to} with the subject "${mail.subject}" was written to the outbox as ${name}.`;
  };
}

/** Sends messages by SMTP. A message is handed over once: where the connection breaks nothing is sent again. */
export function smtp(settings: NonNullable<EmailSettings['smtp']>, password: string | undefined): Deliver {
  const { host, port, secure, user } = settings;
  const transport = createTransport({
    host,
    port,
    secure,
    // A password goes over the network encrypted, or not at all.
    requireTLS: user !== undefined && !isLoopback(host),
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: SILENCE_LIMIT_MS,
    greetingTimeout: SILENCE_LIMIT_MS,
    socketTimeout: SILENCE_LIMIT_MS,
  });
  return async (mail, call) => {
    checkRecipients(mail.to);
    const sent = await transport.sendMail({ ...plain(mail), messageId: messageId(mail, call) });
    if (sent.rejected.length > 0) throw new Error('the mail server refused a recipient');
    return `E-mail to ${mail.to} with the subject "${mail.subject}" was handed to the mail server.`;
  };
}

/** Only text: a message that a person approved reaches no file and no URL. */
function plain(mail: Mail) {
  return { ...mail, disableFileAccess: true, disableUrlAccess: true };
}

/** Plain lists only: a group, or a line that looks like a further header, would hide who gets the message. */
function checkRecipients(to: string): void {
  const parsed = addressParser(to);
  const isAddress = (entry: (typeof parsed)[number]) =>
    !('group' in entry) && /^[^\s@]+@[^\s@]+$/.test(entry.address ?? '');
  if (parsed.length === 0 || /\p{Cc}/u.test(to) || !parsed.every(isAddress)) {
    throw new Error('a recipient is no address');
  }
}

function messageId({ from }: Mail, { id }: CallContext): string {
  const [sender] = addressParser(from, { flatten: true });
  const domain = sender?.address.split('@')[1] || 'localhost';
  return `<${id.replace(/[^A-Za-z0-9_-]/g, '-')}@${domain}>`;
}
