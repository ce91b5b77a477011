import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a process holds, in bytes. */
export interface Memory {
  /** Objects and buffers that are alive after a full garbage collection. */
  held: number;
  /** All memory of the process, with what its heap keeps for later. */
  rss: number;
}

export interface MeasuredGateway {
  port: number;
  memory(): Promise<Memory>;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('programs/measured-gateway.ts', import.meta.url));

/** Starts a gateway alone in a process, so that what clients and Redis hold is not counted. */
export async function startMeasuredGateway(
  redisUrl: string,
  events: Record<string, number> = {},
): Promise<MeasuredGateway> {
  const settings = {
    gateway: { port: 0, skip_auth: true },
    redis: { url: redisUrl },
    temporal: { address: '127.0.0.1:1' },
    events,
  };
  const child = fork(PROGRAM, [JSON.stringify(settings)], { execArgv: ['--expose-gc'] });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    port: Number(new URL(url).port),
    async memory() {
      const answer = once(child, 'message');
      child.send('memory');
      return ((await answer) as [Memory])[0];
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
