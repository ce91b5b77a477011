import { Plangate, type PlangateOptions } from '@plangate/sdk';
import type { Command } from 'commander';
import { UsageError } from './exit-codes.ts';
import { createOutput, type Output } from './output.ts';

/** What every command works with. */
export interface Context {
  plangate: Plangate;
  gateway: Gateway;
  output: Output;
  /** Aborted by Ctrl-C and by SIGTERM. */
  signal: AbortSignal;
  environment: NodeJS.ProcessEnv;
  /** A person sits at the terminal, for questions. */
  isInteractive: boolean;
}

/** How the gateway stands, by what came of the last request. */
export interface Gateway {
  readonly url: string;
  state: 'unknown' | 'reached' | 'away';
}

/** What is around the command. */
export interface Surroundings {
  environment: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

const DEFAULT_URL = 'http://localhost:8080';

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
  const gateway: Gateway = {
    url: options.url ?? (environment['PLANGATE_URL'] || DEFAULT_URL),
    state: 'unknown',
  };
  const output = createOutput(options.json === true);
  const watchedFetch = watched(gateway, output);
  return {
    plangate: clientFor(
      gateway,
      { apiKey: apiKey || undefined, timeoutSeconds: seconds, fetch: watchedFetch },
      (option) =>
        option === 'baseUrl'
          ? nameOf(options.url, '--url', 'PLANGATE_URL')
          : nameOf(options.apiKey, '--api-key', 'PLANGATE_API_KEY'),
    ),
    gateway,
    output,
    signal,
    environment,
    isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true && options.json !== true,
  };
}

/** @throws {UsageError} naming where the value at fault comes from, by `sourceOf` the client's own option */
function clientFor(
  gateway: Gateway,
  options: PlangateOptions,
  sourceOf: (option: string) => string,
): Plangate {
  try {
    return new Plangate({ ...options, baseUrl: gateway.url });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(error.message.replace(/^(baseUrl|apiKey)\b/, sourceOf));
  }
}

function nameOf(option: string | undefined, name: string, variable: string): string {
  return option === undefined ? variable : name;
}

/** `fetch` that notes whether the gateway answers, and says where it wants to be asked later. */
function watched(gateway: Gateway, output: Output): typeof globalThis.fetch {
  return async (...args) => {
    try {
      const response = await fetch(...args);
      gateway.state = 'reached';
      const seconds = response.headers.get('retry-after');
      if (response.status === 429 && seconds) output.note(`Too many requests: more in ${seconds} s ...`);
      return response;
    } catch (error) {
      if (!args[1]?.signal?.aborted) gateway.state = 'away';
      throw error;
    }
  };
}

/** @throws {UsageError} where it is not a whole number from `low` */
export function wholeNumber(name: string, text: string, low = 1): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= low) return value;
  throw new UsageError(`${name} must be a whole number from ${low}, not "${text}"`);
}
