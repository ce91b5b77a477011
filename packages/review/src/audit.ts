import type { AuditEntry } from '@plangate/contracts';

/** Where a chain starts. */
export const NO_ENTRY = '0'.repeat(64);

/** The newest entry of a chain, as the next one refers to it. */
export interface AuditHead {
  n: number;
  hash: string;
}

/** What is known of an entry before it has its place. */
export type AuditFacts = Omit<AuditEntry, 'n' | 'prev' | 'hash'>;

/** Hex SHA-256 of a text; passed in, so that the rules stay free of I/O packages. */
export type Sha256 = (text: string) => string;

/** Puts an entry at the end of a chain. */
export function chainEntry(head: AuditHead, facts: AuditFacts, sha256: Sha256): AuditEntry {
  const entry = { ...facts, n: head.n + 1, prev: head.hash };
  return { ...entry, hash: sha256(canonical(entry)) };
}

/**
 * Whether entries, oldest first, are what was written: none changed, removed in between, added or moved. Entries
 * that were trimmed before the first one are not missed; neither can entries be that were cut off at the end.
 * @returns the number of the first entry that does not fit, or null
 */
export function findBrokenEntry(entries: AuditEntry[], sha256: Sha256): number | null {
  let head: AuditHead | null = null;
  for (const entry of entries) {
    const { hash, ...rest } = entry;
    const follows: boolean = head
      ? entry.prev === head.hash && entry.n === head.n + 1
      : entry.n > 1 || entry.prev === NO_ENTRY;
    if (!follows || sha256(canonical(rest)) !== hash) return entry.n;
    head = { n: entry.n, hash };
  }
  return null;
}

/** JSON with its members in one order, so that the same entry always has the same hash. */
function canonical(entry: Omit<AuditEntry, 'hash'>): string {
  return JSON.stringify(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)));
}
