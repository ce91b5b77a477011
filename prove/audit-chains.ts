import type { AuditEntry } from '@plangate/contracts';
import { findBrokenEntry } from '@plangate/review';
import { sha256 } from './sha256.ts';

/** What is wrong with the two chains of a review's audit: broken, or not whole from the first entry. */
export function wrongChains(audit: AuditEntry[]): string[] {
  return (['accepted', 'refused'] as const).flatMap((outcome) => {
    const chain = chainOf(audit, outcome);
    const broken = findBrokenEntry(chain, sha256);
    return [
      ...(broken === null ? [] : [`the ${outcome} chain of the audit is broken at ${broken}`]),
      ...(chain.some(({ n }, at) => n !== at + 1) ? [`the ${outcome} chain has a gap`] : []),
    ];
  });
}

/** One chain of the audit, oldest first. */
export function chainOf(audit: AuditEntry[], outcome: AuditEntry['outcome']): AuditEntry[] {
  return audit.filter((entry) => entry.outcome === outcome).toSorted((a, b) => a.n - b.n);
}
