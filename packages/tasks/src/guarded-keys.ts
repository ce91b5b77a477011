import { distance } from 'fastest-levenshtein';

/** The context keys that decide whether a person sees the plan first. A typo in one must not skip the gate. */
const GUARDED = ['require_review', 'review_plan', 'review_timeout', 'force_research'] as const;

/** Keys that the contract gives a meaning in `context`; letter edits do not apply to them. */
const CONTEXT_KEYS: ReadonlySet<string> = new Set([
  ...GUARDED,
  'force_swarm',
  'research_strategy',
  'max_iterations',
  'max_concurrent_agents',
  'enable_verification',
  'enable_citations',
  'confirmed_plan',
  'review_conversation',
  'research_brief',
]);

const MAX_LETTERS = 2;

/**
 * The first key that looks like a guarded one but is not it, or that stands at the top level of the body
 * where only `context` gives it a meaning (`contract/plan-review.md` §1).
 * @param bodyFields the fields of the body that the contract knows
 */
export function findMisplacedKey(
  body: object,
  context: object,
  bodyFields: ReadonlySet<string>,
): { key: string; meant: string } | null {
  return firstMatch(Object.keys(body), bodyFields) ?? firstMatch(Object.keys(context), CONTEXT_KEYS);
}

function firstMatch(keys: string[], known: ReadonlySet<string>): { key: string; meant: string } | null {
  for (const key of keys) {
    if (known.has(key)) continue;
    const meant = nearestGuarded(key);
    if (meant) return { key, meant };
  }
  return null;
}

function nearestGuarded(key: string): string | null {
  // Longer than any guarded name with a separator between all its letters: cannot be a near-miss of one.
  if (key.length > 64) return null;
  const folded = fold(key);
  let nearest: string | null = null;
  let fewest = MAX_LETTERS + 1;
  for (const name of GUARDED) {
    const letters = distance(folded, fold(name));
    if (letters < fewest) [nearest, fewest] = [name, letters];
  }
  return nearest;
}

const NO_LETTERS = /[-_\p{White_Space}\p{Default_Ignorable_Code_Point}]/gu;

/** Takes away case, camel case, separators, invisible and full-width forms, so that only letters are left. */
function fold(key: string): string {
  return key.normalize('NFKC').toLowerCase().replace(NO_LETTERS, '');
}
