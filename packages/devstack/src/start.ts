import { configFile, loadSettings, recordRunning, startFolder } from '@plangate/service';
import { runDemo } from './demo.ts';
import { runApprovalDemo } from './demo-approval.ts';
import { prepare } from './prepare.ts';
import { readyBlock } from './ready-block.ts';
import { lockFolder } from './run-lock.ts';
import type { Crash } from './server.ts';
import { type Stack, startStack } from './stack.ts';
import { aborted, stopRequest } from './stop-request.ts';

const USAGE = `usage: npm start [-- --demo]

  --demo  also walks a task with review to its report, lets a person correct an e-mail, and ends

By environment variables, all of which the README lists under "Settings":
  GATEWAY_PORT, LLM_SERVICE_PORT, APPROVAL_AGENT_PORT     other ports than 8080, 8000, 8090
  REDIS_URL, TEMPORAL_ADDRESS, LLM_SERVICE_URL            servers that run already instead of own ones
  PLANGATE_CONFIG, PLANGATE_DATA                          another settings file, another folder for data and logs`;

const began = performance.now();
process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  say(`\nPlangate did not start: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
process.exit();

/** Runs the product until it is asked to end; returns the exit code. */
async function main(args: string[]): Promise<number> {
  if (args.some((arg) => arg !== '--demo')) {
    say(USAGE);
    return args.includes('--help') ? 0 : 2;
  }
  const stop = stopRequest();
  const settings = loadSettings(process.env, configFile('plangate.yaml'));
  const folder = startFolder(process.env);
  const unlock = lockFolder(folder);
  let stack: Stack | undefined;
  let forget: (() => void) | undefined;
  try {
    const crash = Promise.withResolvers<Crash>();
    const options = await prepare(settings, say);
    stack = await startStack({ ...options, folder, signal: stop, onReady: sayReady, onCrash: crash.resolve });
    if (!options.redisUrl) forget = recordRunning(folder, { redis_url: stack.redis.url });
    const skipAuth = options.env?.['GATEWAY_SKIP_AUTH'] === '1';
    say(readyBlock(stack, { settings, folder, skipAuth, took: seconds(performance.now() - began) }));
    const ends = [aborted(stop).then(() => 0), crash.promise.then(reportCrash)];
    if (args.includes('--demo')) ends.push(demo(stack));
    return await Promise.race(ends);
  } catch (error) {
    if (stop.aborted) return 0;
    throw error;
  } finally {
    if (stack) {
      say(`\nStopping${stop.aborted ? ` (${stop.reason})` : ''} ...`);
      await stack.stop();
      say('Stopped.');
    }
    forget?.();
    unlock();
  }
}

/** Shows what became of a part that ended by itself; returns the exit code. */
function reportCrash({ name, reason, lastLines }: Crash): number {
  say(`\n${name} ${reason}. Its last log lines:\n${lastLines}`);
  return 1;
}

/** Runs the demo; returns the exit code. */
async function demo(stack: Stack): Promise<number> {
  try {
    await runDemo(stack.gatewayUrl, say);
    await runApprovalDemo(stack.approvalUrl, stack.env['APPROVAL_AGENT_OUTBOX'] ?? '', say);
    return 0;
  } catch (error) {
    say(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

function sayReady(name: string, milliseconds: number, pid: number): void {
  say(`  ${name} ready (${seconds(milliseconds)}, process ${pid})`);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function say(line: string): void {
  console.log(line);
}
