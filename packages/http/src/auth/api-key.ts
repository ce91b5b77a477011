import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Owner } from '@plangate/contracts';
import type { Redis } from 'ioredis';
import type { Verifier } from './authenticate.ts';

const KEY_PATTERN = /^pg_[A-Za-z0-9_-]{43}$/;
/** Hash of all keys: id -> SHA-256. */
const INDEX = 'apikeys';

/** What is known of a key; the key itself is not kept anywhere. */
export interface ApiKeyRecord {
  id: string;
  owner: Owner;
  role: string;
  name: string;
  created_at: string;
  expires_at?: string;
}

export interface NewApiKey {
  owner: Owner;
  role?: string;
  name?: string;
  expiresAt?: Date;
}

export interface ApiKeyStore {
  /** Makes a key; `key` is given out here and never again. */
  create(input: NewApiKey): Promise<{ key: string; record: ApiKeyRecord }>;
  /** The record of a key; null where it is unknown, revoked, expired or damaged. Rejects while Redis is away. */
  lookup(key: string): Promise<ApiKeyRecord | null>;
  /** {@link lookup} as auth needs it. */
  verify: Verifier;
  /** Every key, oldest first, expired ones too. */
  list(): Promise<ApiKeyRecord[]>;
  /** Ends a key at once, everywhere; false where there is none of this id. */
  revoke(id: string): Promise<boolean>;
}

/**
 * API keys in Redis, stored only as SHA-256 (`contract/plan-review.md` §0). A key has 256 random bits, so the
 * hash needs no salt. Nothing is cached: a revoked key ends with the next request.
 */
export function apiKeyStore(redis: Redis, now: () => Date = () => new Date()): ApiKeyStore {
  const store: ApiKeyStore = {
    async create({ owner, role = 'user', name = '', expiresAt }) {
      const key = `pg_${randomBytes(32).toString('base64url')}`;
      const record: ApiKeyRecord = {
        id: `key_${randomBytes(9).toString('base64url')}`,
        owner: Owner.parse(owner),
        role,
        name,
        created_at: now().toISOString(),
        ...(expiresAt ? { expires_at: expiresAt.toISOString() } : {}),
      };
      const sha256 = hash(key);
      const { owner: _, ...rest } = record;
      // Index first: a key that works is always listed and so can always be revoked.
      await redis.hset(INDEX, record.id, sha256);
      await redis.hset(recordKey(sha256), { ...rest, ...record.owner, sha256 });
      return { key, record };
    },

    async lookup(key) {
      if (!KEY_PATTERN.test(key)) return null;
      const sha256 = hash(key);
      const fields = await redis.hgetall(recordKey(sha256));
      const record = parseRecord(fields);
      if (!record || !sameText(fields['sha256'] ?? '', sha256)) return null;
      return isExpired(record, now()) ? null : record;
    },

    async verify(key) {
      const record = await store.lookup(key);
      return record && { owner: record.owner, role: record.role, via: 'api-key' };
    },

    async list() {
      const hashes = Object.values(await redis.hgetall(INDEX));
      const records = await Promise.all(hashes.map((sha256) => redis.hgetall(recordKey(sha256))));
      return records
        .flatMap((fields) => parseRecord(fields) ?? [])
        .sort((a, b) => a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id));
    },

    async revoke(id) {
      const sha256 = await redis.hget(INDEX, id);
      if (sha256 === null) return false;
      await redis.del(recordKey(sha256));
      return (await redis.hdel(INDEX, id)) === 1;
    },
  };
  return store;
}

function recordKey(sha256: string): string {
  return `apikey:${sha256}`;
}

function hash(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** A record without an owner stands for nobody. */
function parseRecord(fields: Record<string, string>): ApiKeyRecord | null {
  const owner = Owner.safeParse({ user: fields['user'], tenant: fields['tenant'] });
  const { id, role, name, created_at, expires_at } = fields;
  if (!owner.success || !id || !role || !created_at) return null;
  return {
    id,
    owner: owner.data,
    role,
    name: name ?? '',
    created_at,
    ...(expires_at === undefined ? {} : { expires_at }),
  };
}

/** An expiry that cannot be read counts as past. */
function isExpired({ expires_at }: ApiKeyRecord, now: Date): boolean {
  return expires_at !== undefined && !(Date.parse(expires_at) > now.getTime());
}
