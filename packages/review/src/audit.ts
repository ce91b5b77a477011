import type { AuditChain, AuditEntry } from '@plangate/contracts';

/** Where a chain starts. */
export const NO_ENTRY = '0'.repeat(64);

/** Who is named where somebody else than the owner was refused; no user of a credential has a space in his name. */
export const ANOTHER_USER = 'another user';

/** Most entries kept of each chain of refusals; of accepted steps all are. */
export const MOST_REFUSALS = { refused: 10_000, foreign: 1_000 };

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

/** A chain that is not what was written. */
export interface AuditFault {
  chain: AuditChain;
  /** Number of the first entry that does not fit, or of the first one that is missing at the end. */
  n: number;
}

/**
 * Checks an audit as `GET …/review/audit` answers it, each chain for itself, whatever stands between its entries.
 * The accepted chain has one entry for every version of the review, from the first; a chain of refusals begins late
 * only where it is as long as it may become.
 * @param known `version`: one that the review is known to have had when the audit was read, from its `ETag` for
 *   example; without it nobody sees that the newest accepted entries were removed
 * @returns what does not hold, at most one place in each chain; empty where all of it does
 */
export function verifyAudit(
  entries: AuditEntry[],
  sha256: Sha256,
  known: { version?: number | undefined } = {},
): AuditFault[] {
  const { accepted, refused, foreign } = splitChains(entries);
  const last = accepted.at(-1)?.n ?? 0;
  const missing = last < (known.version ?? 0) ? last + 1 : null;
  const broken: [AuditChain, number | null][] = [
    ['accepted', findBrokenEntry(accepted, sha256, { countsVersions: true }) ?? missing],
    ['refused', findBrokenEntry(refused, sha256, { kept: MOST_REFUSALS.refused })],
    ['foreign', findBrokenEntry(foreign, sha256, { kept: MOST_REFUSALS.foreign })],
  ];
  return broken.flatMap(([chain, n]) => (n === null ? [] : [{ chain, n }]));
}

/**
 * Whether the entries of one chain, oldest first, are what was written: none changed, removed before another one,
 * added or moved. That the newest ones were removed cannot be seen in them.
 * @param rules `kept`: no more entries than these are kept, so that a chain as long as this may begin late;
 * `countsVersions`: every entry is a step, which made one version
 * @returns the number of the first entry that does not fit, or null
 */
export function findBrokenEntry(
  entries: AuditEntry[],
  sha256: Sha256,
  { kept = Infinity, countsVersions = false } = {},
): number | null {
  const [first] = entries;
  let head: AuditHead = { n: 0, hash: NO_ENTRY };
  if (first && first.n > 1 && entries.length >= kept) head = { n: first.n - 1, hash: first.prev };
  for (const entry of entries) {
    const { hash, ...rest } = entry;
    const follows = entry.n === head.n + 1 && entry.prev === head.hash;
    const isStep = !countsVersions || entry.version === entry.n;
    if (!follows || !isStep || sha256(canonical(rest)) !== hash) return entry.n;
    head = { n: entry.n, hash };
  }
  return null;
}

/** The entries of an audit by their chain, each in the order in which it came. */
export function splitChains(entries: AuditEntry[]): Record<AuditChain, AuditEntry[]> {
  const chains: Record<AuditChain, AuditEntry[]> = { accepted: [], refused: [], foreign: [] };
  for (const entry of entries) chains[chainOf(entry)].push(entry);
  return chains;
}

/** Several chains as one list by time; a clock that stepped back does not change the order within a chain. */
export function mergeChains(chains: AuditEntry[][]): AuditEntry[] {
  return chains
    .flatMap((chain) => {
      let latest = '';
      return chain.map((entry) => {
        if (entry.at > latest) latest = entry.at;
        return { entry, at: latest };
      });
    })
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    .map(({ entry }) => entry);
}

/** Entries that were written before they named their chain are told apart by what they say. */
function chainOf({ chain, outcome, by }: AuditEntry): AuditChain {
  if (chain) return chain;
  if (outcome === 'accepted') return 'accepted';
  return by === ANOTHER_USER ? 'foreign' : 'refused';
}

/** JSON with its members in one order, so that the same entry always has the same hash. */
function canonical(entry: Omit<AuditEntry, 'hash'>): string {
  return JSON.stringify(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)));
}
