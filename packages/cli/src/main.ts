import { CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { explain, explainAsJson } from './explain.ts';
import { createProgram } from './program.ts';

process.exitCode = await main(process.argv.slice(2), process.env);

/** Runs one command; returns its exit code. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  // Where the command was called, when an older Node had another one start this.
  const calledIn = environment['PLANGATE_CWD'];
  if (calledIn) process.chdir(calledIn);
  endQuietlyWithReader();
  const stopped = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => stopped.abort(new Error(`stopped (${name})`)));
  }
  const isJson = args.includes('--json');
  try {
    await createProgram(manifest.version, { environment, signal: stopped.signal }).parseAsync(args, {
      from: 'user',
    });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (stopped.signal.aborted) return EXIT.interrupted;
    const text = explain(error);
    if (text !== '') process.stderr.write(`${isJson ? JSON.stringify(explainAsJson(error)) : text}\n`);
    return exitCodeOf(error);
  }
}

/** `plangate tasks | head`: the end of the reader is no fault. */
function endQuietlyWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT.ok);
  });
}
