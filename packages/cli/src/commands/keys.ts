import {
  adviseOnRedis,
  createKey,
  type KeyAction,
  KeyRequestError,
  listKeys,
  revokeKey,
  runKeyAction,
} from '@plangate/http/keys';
import { isRedisUnavailable } from '@plangate/redis';
import type { Command } from 'commander';
import type { Surroundings } from '../context.ts';
import { EXIT, ExitError, UsageError } from '../exit-codes.ts';
import { createOutput } from '../output.ts';

/** `keys`: for those who run the gateway; they talk to its Redis, not to it. */
export function addKeysCommands(program: Command, surroundings: Surroundings): void {
  const keys = program
    .command('keys')
    .description("make, list and revoke API keys in the gateway's Redis (REDIS_URL)");

  const add = (name: string, description: string) =>
    keys
      .command(name)
      .description(description)
      .option('--redis <url>', "the gateway's Redis; default: REDIS_URL");
  add('create', 'make a key; it is shown once')
    .requiredOption('--user <user>')
    .requiredOption('--tenant <tenant>')
    .option('--role <role>')
    .option('--name <name>', 'what it is for')
    .option('--expires-in-days <days>')
    .action(async (options: Parameters<typeof createKey>[0], command: Command) => {
      await perform(command, surroundings, () => createKey(options));
    });
  add('list', 'list all keys, without the keys themselves').action(async (_: unknown, command: Command) => {
    await perform(command, surroundings, () => listKeys());
  });
  add('revoke', 'end a key at once')
    .argument('<id>')
    .action(async (id: string, _: unknown, command: Command) => {
      const { revoked } = await perform(command, surroundings, () => revokeKey(id));
      if (!revoked) throw new ExitError(EXIT.notFound, '');
    });
}

async function perform<T>(
  command: Command,
  { environment }: Surroundings,
  prepare: () => KeyAction<T>,
): Promise<T> {
  const options = command.optsWithGlobals<{ redis?: string; json?: boolean }>();
  const redisUrl = options.redis ?? environment['REDIS_URL'] ?? '';
  // A guess might write into the Redis of something else.
  if (redisUrl === '') {
    throw new UsageError(
      "say which Redis is the gateway's: --redis <url> or REDIS_URL (npm run keys finds it)",
    );
  }
  if (!/^rediss?:\/\//.test(redisUrl) || !URL.canParse(redisUrl)) {
    throw new UsageError('the address of Redis must look like redis://127.0.0.1:6379/0');
  }
  try {
    const action = prepare();
    const result = await runKeyAction(redisUrl, action);
    createOutput(options.json === true).result(result, () => action.describe(result));
    return result;
  } catch (error) {
    if (error instanceof KeyRequestError) throw new UsageError(error.message);
    if (isRedisUnavailable(error)) throw new ExitError(EXIT.unavailable, adviseOnRedis(redisUrl, error));
    throw error;
  }
}
