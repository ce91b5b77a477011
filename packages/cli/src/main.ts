import { CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
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
  let stopCode: ExitCode = EXIT.interrupted;
  for (const [name, code] of [
    ['SIGINT', EXIT.interrupted],
    ['SIGTERM', EXIT.terminated],
  ] as const) {
    process.on(name, () => {
      stopCode = code;
      stopped.abort(new Error(`stopped (${name})`));
    });
  }
  const isJson = beforeOperands(args).includes('--json');
  const tell = (text: string, json: object) =>
    void process.stderr.write(`${isJson ? JSON.stringify(json) : text}\n`);
  try {
    const surroundings = { environment, signal: stopped.signal };
    await createProgram(manifest.version, surroundings, { isJson }).parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.ok;
      // As text it is written already.
      const isHelp = error.code === 'commander.help';
      const message = isHelp ? 'say which command; plangate --help shows them' : error.message;
      if (isJson) tell('', { error: message, code: 'usage' });
      return EXIT.usage;
    }
    if (stopped.signal.aborted) return stopCode;
    const text = explain(error);
    if (text !== '') tell(text, explainAsJson(error));
    return exitCodeOf(error);
  }
}

/** What `--` ends: behind it, `--json` is a word like any other. */
function beforeOperands(args: string[]): string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}

/** `plangate tasks | head`: the end of the reader is no fault. */
function endQuietlyWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT.ok);
  });
}
