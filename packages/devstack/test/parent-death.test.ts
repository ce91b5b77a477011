import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { eventually, isAlive } from './processes.ts';

const program = fileURLToPath(new URL('programs/start-servers.ts', import.meta.url));

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'no server and no folder outlives a parent ended by %s',
  async (signal) => {
    const parent = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
    const { pids, folder } = JSON.parse(line) as { pids: number[]; folder: string };
    expect(pids.map(isAlive)).toEqual([true, true]);

    parent.kill(signal);

    await eventually(() => !pids.some(isAlive) && !existsSync(folder));
  },
);
