import { connectRedis } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { type ApiKeyRecord, type ApiKeyStore, apiKeyStore } from './api-key.ts';

const CONNECT_LIMIT_MS = 3_000;
const MS_PER_DAY = 86_400_000;
/** User and tenant stand in logs and audits: visible characters without spaces. */
const ACCOUNT = /^[^\s\p{C}]{1,128}$/u;
const LABEL = /^[^\p{C}]{0,128}$/u;

/** A key is asked for in a way that cannot be right. */
export class KeyRequestError extends Error {}

/** Something to do with the keys, checked before anything is touched. */
export interface KeyAction<T> {
  run(keys: ApiKeyStore): Promise<T>;
  /** What was done, for a person. */
  describe(result: T): string;
}

export interface NewKeyRequest {
  user?: string | undefined;
  tenant?: string | undefined;
  role?: string | undefined;
  name?: string | undefined;
  /** A whole number as text. */
  expiresInDays?: string | undefined;
}

/** @throws {KeyRequestError} saying which option is wrong */
export function createKey(request: NewKeyRequest): KeyAction<{ key: string; record: ApiKeyRecord }> {
  const { user, tenant, role = 'user', name = '', expiresInDays: days } = request;
  if (user === undefined || tenant === undefined) {
    throw new KeyRequestError('create needs --user and --tenant.');
  }
  for (const [option, value] of Object.entries({ user, tenant, role })) {
    if (!ACCOUNT.test(value)) {
      throw new KeyRequestError(`--${option} must have 1 to 128 visible characters and no spaces.`);
    }
  }
  if (!LABEL.test(name)) throw new KeyRequestError('--name must have at most 128 visible characters.');
  if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days)) {
    throw new KeyRequestError('--expires-in-days must be a whole number between 1 and 99999.');
  }
  return {
    run(keys) {
      const expiry =
        days === undefined ? {} : { expiresAt: new Date(Date.now() + Number(days) * MS_PER_DAY) };
      return keys.create({ owner: { user, tenant }, role, name, ...expiry });
    },
    describe({ key, record }) {
      const until = record.expires_at ? ` until ${record.expires_at}` : '';
      return `${key}\nThis key (${record.id}) acts for ${user} of ${tenant}${until}. Keep it now: it is stored only as a hash and cannot be shown again.`;
    },
  };
}

/** All keys, as a table. */
export function listKeys(): KeyAction<ApiKeyRecord[]> {
  return { run: (keys) => keys.list(), describe: table };
}

/** Ends a key; `revoked` is false where there is none of this id. */
export function revokeKey(id: string): KeyAction<{ id: string; revoked: boolean }> {
  return {
    run: async (keys) => ({ id, revoked: await keys.revoke(id) }),
    describe: ({ revoked }) =>
      revoked ? `Revoked ${id}: it is refused from now on.` : `There is no key ${id}; list shows all.`,
  };
}

/**
 * Does something with the keys that are in this Redis.
 * @throws the fault of the connection where it cannot be reached within three seconds
 */
export async function runKeyAction<T>(redisUrl: string, action: KeyAction<T>): Promise<T> {
  const redis = connectRedis(redisUrl, { name: 'plangate-keys' });
  try {
    await connected(redis);
    return await action.run(apiKeyStore(redis));
  } finally {
    redis.disconnect();
  }
}

/** What to do where Redis cannot be used; names its address without a password. */
export function adviseOnRedis(redisUrl: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const place = new URL(redisUrl).host;
  return `Redis at ${place} cannot be used (${text || 'no connection'}). Start it, or set REDIS_URL to where it is, such as redis://127.0.0.1:6379/0.`;
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
