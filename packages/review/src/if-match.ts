import { entityTags } from './entity-tags.ts';

const VERSION = /^(?:"(0|[1-9]\d*)"|(0|[1-9]\d*))$/;

/**
 * Whether an If-Match header (RFC 9110 §13.1.1, with the bare numbers that existing clients send) allows a
 * change of a review at `version`. Absent: unconditional. Weak tags, other spellings of a number and text match
 * nothing. `0` matches version 1 only: a desktop client sends it before the first feedback
 * (contract/plan-review.md §2.2).
 */
export function ifMatchAllows(header: string | null | undefined, version: number): boolean {
  if (header === null || header === undefined) return true;
  return entityTags(header).some((tag) => {
    if (tag === '*') return true;
    const [, quoted, bare] = VERSION.exec(tag) ?? [];
    const digits = quoted ?? bare;
    if (digits === undefined) return false;
    return digits === '0' ? version === 1 : digits === String(version);
  });
}
