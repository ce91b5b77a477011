import { Plangate } from '@plangate/sdk';
import type { Command } from 'commander';
import { UsageError } from './exit-codes.ts';
import { createOutput, type Output } from './output.ts';

/** What every command works with. */
export interface Context {
  plangate: Plangate;
  output: Output;
  /** Aborted by Ctrl-C and by SIGTERM. */
  signal: AbortSignal;
  environment: NodeJS.ProcessEnv;
  /** A person sits at the terminal, for questions. */
  isInteractive: boolean;
}

/** What is around the command. */
export interface Surroundings {
  environment: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

interface GlobalOptions {
  url?: string;
  apiKey?: string;
  timeout?: string;
  json?: boolean;
}

/** The context of a command from the options given anywhere on the line, then the environment. */
export function contextOf(command: Command, { environment, signal }: Surroundings): Context {
  const options = command.optsWithGlobals<GlobalOptions>();
  const apiKey = options.apiKey ?? environment['PLANGATE_API_KEY'];
  const seconds = options.timeout === undefined ? undefined : wholeNumber('--timeout', options.timeout);
  return {
    plangate: new Plangate({
      baseUrl: options.url ?? (environment['PLANGATE_URL'] || undefined),
      apiKey: apiKey || undefined,
      timeoutSeconds: seconds,
    }),
    output: createOutput(options.json === true),
    signal,
    environment,
    isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true && options.json !== true,
  };
}

/** @throws {UsageError} where it is not a whole number from `low` */
export function wholeNumber(name: string, text: string, low = 1): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= low) return value;
  throw new UsageError(`${name} must be a whole number from ${low}, not "${text}"`);
}
