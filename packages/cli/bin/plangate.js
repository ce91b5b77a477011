#!/usr/bin/env node
// Runs the command from its sources: a clone needs no build. Plain JavaScript that older versions of Node can read;
// under one of them the bootstrap, which works from the root of the project, finds or fetches the right one.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

if (process.features.typescript) await import('../src/main.ts');
else bootstrap();

function bootstrap() {
  const program = fileURLToPath(new URL('../../../bootstrap.mjs', import.meta.url));
  const args = [program, 'packages/cli/src/main.ts', ...process.argv.slice(2)];
  const env = { ...process.env, PLANGATE_CWD: process.cwd() };
  const child = spawn(process.execPath, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
