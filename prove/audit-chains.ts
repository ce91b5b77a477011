import type { AuditEntry } from '@plangate/contracts';
import { verifyAudit } from '@plangate/review';
import { sha256 } from './sha256.ts';

/**
 * What is wrong with the chains of a review's audit.
 * @param version one that the review is known to have had
 */
export function wrongChains(audit: AuditEntry[], version?: number): string[] {
  return verifyAudit(audit, sha256, { version }).map(
    ({ chain, n }) => `the ${chain} chain of the audit does not hold at ${n}`,
  );
}
