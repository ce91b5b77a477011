import { parseArgs } from 'node:util';
import { type ApiKeyRecord, type ApiKeyStore, apiKeyStore } from '@plangate/http';
import { connectRedis, isRedisUnavailable } from '@plangate/redis';
import { configFile, loadSettings, SettingsError } from '@plangate/service';
import type { Redis } from 'ioredis';

const USAGE = `Usage:
  npm run keys -- create --user USER --tenant TENANT [--role ROLE] [--name NAME] [--expires-in-days DAYS]
  npm run keys -- list
  npm run keys -- revoke ID`;

/** Exit codes of sysexits.h. */
const EXIT_USAGE = 64;
const EXIT_UNAVAILABLE = 69;
const EXIT_CONFIG = 78;

const CONNECT_LIMIT_MS = 3_000;
const MS_PER_DAY = 86_400_000;
/** User and tenant stand in logs and audits: visible characters without spaces. */
const ACCOUNT = /^[^\s\p{C}]{1,128}$/u;
const LABEL = /^[^\p{C}]{0,128}$/u;

class UsageError extends Error {}

type Action = (keys: ApiKeyStore) => Promise<string>;

process.exitCode = await main(process.argv.slice(2), process.env);

/** Makes, lists and revokes API keys; returns the exit code. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let redis: Redis | undefined;
  let place = '';
  try {
    const action = parseCommand(args);
    const settings = loadSettings(environment, configFile('plangate.yaml'));
    // The address without a password.
    place = new URL(settings.redis.url).host;
    redis = connectRedis(settings.redis.url, { name: 'plangate-keys' });
    await connected(redis);
    console.log(await action(apiKeyStore(redis)));
    return 0;
  } catch (error) {
    return explain(error, place);
  } finally {
    redis?.disconnect();
  }
}

function explain(error: unknown, place: string): number {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError) {
    console.error(`${text}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (error instanceof SettingsError) {
    console.error(`Bad settings: ${text}`);
    return EXIT_CONFIG;
  }
  if (isRedisUnavailable(error)) {
    console.error(
      `Redis at ${place} cannot be used (${text || 'no connection'}). Start it, or set REDIS_URL to where it is, such as redis://127.0.0.1:6379/0.`,
    );
    return EXIT_UNAVAILABLE;
  }
  console.error(text);
  return 1;
}

/** What the arguments ask for; everything is checked before anything is touched. */
function parseCommand(args: string[]): Action {
  const { values, positionals } = parse(args);
  const [command, id, ...more] = positionals;
  const options = Object.keys(values);

  if (command === 'create' && id === undefined) return create(values);
  if (command === 'list' && id === undefined && options.length === 0) {
    return async (keys) => table(await keys.list());
  }
  if (command === 'revoke' && id !== undefined && more.length === 0 && options.length === 0)
    return revoke(id);
  throw new UsageError(
    command === 'revoke' && id === undefined
      ? 'revoke needs the ID of a key; list shows it.'
      : 'Nothing to do: say create, list or revoke.',
  );
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        user: { type: 'string' },
        tenant: { type: 'string' },
        role: { type: 'string' },
        name: { type: 'string' },
        'expires-in-days': { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function create(values: ReturnType<typeof parse>['values']): Action {
  const { user, tenant, role = 'user', name = '', 'expires-in-days': days } = values;
  if (user === undefined || tenant === undefined) throw new UsageError('create needs --user and --tenant.');
  for (const [option, value] of Object.entries({ user, tenant, role })) {
    if (!ACCOUNT.test(value)) {
      throw new UsageError(`--${option} must have 1 to 128 visible characters and no spaces.`);
    }
  }
  if (!LABEL.test(name)) throw new UsageError('--name must have at most 128 visible characters.');
  if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days)) {
    throw new UsageError('--expires-in-days must be a whole number between 1 and 99999.');
  }
  return async (keys) => {
    const expiry = days === undefined ? {} : { expiresAt: new Date(Date.now() + Number(days) * MS_PER_DAY) };
    const { key, record } = await keys.create({ owner: { user, tenant }, role, name, ...expiry });
    const until = record.expires_at ? ` until ${record.expires_at}` : '';
    return `${key}\nThis key (${record.id}) acts for ${user} of ${tenant}${until}. Keep it now: it is stored only as a hash and cannot be shown again.`;
  };
}

function revoke(id: string): Action {
  return async (keys) => {
    if (!(await keys.revoke(id))) throw new Error(`There is no key ${id}; list shows all.`);
    return `Revoked ${id}: it is refused from now on.`;
  };
}

function table(records: ApiKeyRecord[]): string {
  if (records.length === 0) return 'There are no keys.';
  const rows = records.map(({ id, owner, role, name, created_at, expires_at }) => [
    id,
    owner.user,
    owner.tenant,
    role,
    created_at,
    expires_at ?? 'never',
    name,
  ]);
  const all = [['ID', 'USER', 'TENANT', 'ROLE', 'CREATED', 'EXPIRES', 'NAME'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Waits for the connection; its own fault, where there is one, says why it did not come. */
function connected(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('ETIMEDOUT: no answer')), CONNECT_LIMIT_MS);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
    redis.once('error', (error: Error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
