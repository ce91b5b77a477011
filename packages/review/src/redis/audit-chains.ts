import { type AuditChain, AuditEntry, type WorkflowId } from '@plangate/contracts';
import { defineScript, faultAt, isUnreadable, readStored } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { type AuditHead, MOST_REFUSALS, NO_ENTRY } from '../audit.ts';
import type { RefusalChain } from '../use-cases/ports.ts';
import { reviewKeys } from './keys.ts';
import { luaFile } from './lua.ts';

const auditRefused = defineScript('review_audit_refused', luaFile('audit-refused.lua'));

/** How long a chain is kept after its last entry. */
export const AUDIT_SECONDS = 90 * 24 * 3_600;
/** How often an entry is made again because another refusal came first. */
const MOST_ATTEMPTS = 1_000;

/** The three chains of a review, each oldest first; they outlive it. */
export async function readAudit(
  redis: Redis,
  workflowId: WorkflowId,
): Promise<Record<AuditChain, AuditEntry[]>> {
  const keys = reviewKeys(workflowId);
  const read = async (key: string) => (await redis.lrange(key, 0, -1)).map((text) => readEntry(key, text));
  const [accepted, refused, foreign] = await Promise.all([
    read(keys.audit),
    read(keys.refused),
    read(keys.foreign),
  ]);
  return { accepted, refused, foreign };
}

/**
 * Appends a refusal to a chain of its own.
 * @param entry made from the head of that chain, again where another refusal came first
 * @returns why it stands nowhere: the chain cannot be read, or grows too fast; null where it was appended
 */
export async function appendRefusal(
  redis: Redis,
  workflowId: WorkflowId,
  chain: RefusalChain,
  entry: (head: AuditHead) => AuditEntry,
): Promise<Error | null> {
  const key = reviewKeys(workflowId)[chain];
  try {
    for (let n = 0; n < MOST_ATTEMPTS; n += 1) {
      const last = await redis.lindex(key, -1);
      const next = JSON.stringify(entry(headOf(key, last)));
      const keep = [MOST_REFUSALS[chain], AUDIT_SECONDS];
      if ((await auditRefused(redis, [key], [next, last ?? '', ...keep])) === 1) return null;
    }
    return new Error(`${key}: the chain is growing too fast`);
  } catch (error) {
    if (isUnreadable(error)) return faultAt(key, error);
    throw error;
  }
}

/** Where a chain ends, from its last entry as stored. */
export function headOf(key: string, entry: string | null): AuditHead {
  if (entry === null) return { n: 0, hash: NO_ENTRY };
  const { n, hash } = readEntry(key, entry);
  return { n, hash };
}

function readEntry(key: string, text: string): AuditEntry {
  return readStored(key, () => AuditEntry.parse(JSON.parse(text)));
}
