import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { PROJECT_FOLDER } from '@plangate/service';
import { type Child, describeExit, spawnChild } from './child.ts';
import { findChromium } from './install/chromium.ts';
import { findRedis } from './install/redis.ts';
import { findTemporal } from './install/temporal.ts';
import { pythonChecks } from './python/checks.ts';
import { stopRequest } from './stop-request.ts';
import { type Counts, countSuites, NOTHING, sum } from './test-counts.ts';

const stop = stopRequest();
process.exitCode = await main(process.argv.slice(2));
process.exit();

/** Sets up, then runs every check; the last line says what came of them. Arguments go to vitest. */
async function main(vitestArguments: string[]): Promise<number> {
  const work = mkdtempSync(join(tmpdir(), 'plangate-checks-'));
  let counts = NOTHING;
  try {
    await setUp();
    counts = sum([
      await check('lint', 'biome', ['check', '.']),
      await check('types', 'tsc', ['--noEmit']),
      await suites(vitestArguments, join(work, 'results.json')),
      await python(work),
    ]);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    counts = sum([counts, { passed: 0, failed: 1 }]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}

async function setUp(): Promise<void> {
  say('set-up');
  say(`  Node ${process.version}`);
  say(`  Redis: ${process.env['REDIS_URL'] ? 'REDIS_URL, beside' : ''}${await findRedis({ report: say })}`);
  const given = process.env['TEMPORAL_ADDRESS'];
  say(`  Temporal: ${given || (await findTemporal({ report: say }))}`);
  // Only the tests in a browser need it: they fail by themselves where it is missing.
  const chromium = await findChromium({ report: say }).catch((error: Error) => error.message);
  say(`  Chromium: ${chromium}`);
}

/** A check that passes or fails as a whole. */
async function check(name: string, command: string, args: string[]): Promise<Counts> {
  const passed = await succeeds(name, command, args);
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function suites(args: string[], results: string): Promise<Counts> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  const passed = await succeeds('suites', 'vitest', ['run', ...reporters, ...args]);
  return countSuites(results, passed);
}

/** A machine without Python fails these checks only. */
async function python(work: string): Promise<Counts> {
  try {
    return await pythonChecks({ work, report: say, succeeds: runs });
  } catch (error) {
    if (stop.aborted) throw error;
    say(error instanceof Error ? error.message : String(error));
    return { passed: 0, failed: 1 };
  }
}

/** Runs a command of the installed packages and shows what it says. */
function succeeds(name: string, command: string, args: string[]): Promise<boolean> {
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  return runs(name, join(PROJECT_FOLDER, 'node_modules', '.bin', command), args, { PATH });
}

async function runs(name: string, command: string, args: string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  if (stop.aborted) throw new Error(`stopped (${stop.reason})`);
  say(name);
  const began = performance.now();
  const child = await spawnChild(command, args, {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, ...env },
    logFile: 'inherit',
  });
  const exit = await endOrStop(child);
  say(`${name} ${describeExit(exit)} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  return exit.code === 0;
}

async function endOrStop(child: Child) {
  const end = () => void child.stop();
  stop.addEventListener('abort', end, { once: true });
  const exit = await child.exited;
  stop.removeEventListener('abort', end);
  return exit;
}

function say(line: string): void {
  console.log(line.startsWith(' ') ? line : `\nplangate: ${line}`);
}
