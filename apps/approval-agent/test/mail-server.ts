import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface MailServer {
  port: number;
  /** Messages that it has taken, in their order. */
  received: { sender: string; recipients: string[]; message: Buffer }[];
  /** Users who have sent a password. */
  logins: string[];
  stop(): Promise<void>;
}

/** A mail server on loopback; it refuses `refused@…` and messages with the subject `refused`. */
export async function startMailServer(account: { user: string; password: string }): Promise<MailServer> {
  const received: MailServer['received'] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      logins.push(username ?? '');
      if (username === account.user && password === account.password) done(null, { user: username });
      else done(new Error('wrong password'));
    },
    onRcptTo({ address }, _session, done) {
      done(address.startsWith('refused@') ? new Error('no such user') : null);
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const message = Buffer.concat(chunks);
        if (/^Subject: refused\r$/m.test(message.toString())) {
          done(new Error('refused'));
          return;
        }
        const sender = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        received.push({ sender, recipients: envelope.rcptTo.map(({ address }) => address), message });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    received,
    logins,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
