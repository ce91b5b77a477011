import type { PlanDiff } from '@plangate/contracts';
import { createTwoFilesPatch, diffArrays } from 'diff';
import type { PlanVersion } from './state.ts';

/** Texts that have nothing in common take quadratic time; past this many milliseconds one replaces the other. */
const DIFF_LIMIT_MS = 50;

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
  return { from: from.version, to: to.version, changes, unified: unifiedDiff(from, to) };
}

/** By line; where that takes too long, all lines of the old plan go and all of the new one come. */
function unifiedDiff(from: PlanVersion, to: PlanVersion): string {
  const names = [`version ${from.version}`, `version ${to.version}`] as const;
  const patch = createTwoFilesPatch(...names, from.text, to.text, '', '', { timeout: DIFF_LIMIT_MS });
  if (patch !== undefined) return patch;
  const [before, after] = [from.text.split('\n'), to.text.split('\n')];
  const lines = [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  const head = `--- ${names[0]}\n+++ ${names[1]}\n@@ -1,${before.length} +1,${after.length} @@`;
  return `${head}\n${lines.join('\n')}\n`;
}

function words(text: string): string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text);
  return Array.from(segments, ({ segment }) => segment);
}
