import type { PlanDiff } from '@plangate/contracts';
import { createTwoFilesPatch, diffArrays } from 'diff';
import type { PlanVersion } from './state.ts';

/** Texts that have nothing in common take quadratic time; past this many milliseconds one replaces the other. */
const DIFF_LIMIT_MS = 1_000;

/**
 * What changed between two versions of a plan, by word; `Intl.Segmenter` finds the words of languages without
 * spaces. The texts of `equal` and `delete` together are the old plan, those of `equal` and `insert` the new one.
 */
export function diffPlans(from: PlanVersion, to: PlanVersion): PlanDiff {
  const parts = diffArrays(words(from.text), words(to.text), { timeout: DIFF_LIMIT_MS });
  const changes: PlanDiff['changes'] = parts
    ? parts.map(({ added, removed, value }) => ({
        op: added ? 'insert' : removed ? 'delete' : 'equal',
        text: value.join(''),
      }))
    : [
        { op: 'delete', text: from.text },
        { op: 'insert', text: to.text },
      ];
  const unified =
    createTwoFilesPatch(`version ${from.version}`, `version ${to.version}`, from.text, to.text, '', '', {
      timeout: DIFF_LIMIT_MS,
    }) ?? '';
  return { from: from.version, to: to.version, changes, unified };
}

function words(text: string): string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text);
  return Array.from(segments, ({ segment }) => segment);
}
