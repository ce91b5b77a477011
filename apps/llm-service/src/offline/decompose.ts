import { cutToBytes, type Question } from '@plangate/contracts';
import { planToQuestions } from '@plangate/research';
import { keysOf } from './keys.ts';
import { areaOf, labelled } from './phrases.ts';

const EVERY_AREA = 200;
const MOST_TERMS = 12;
const QUESTION_BYTES = 600;

/**
 * The areas of any plan as questions, in order: one each, or several together where there are more than `limit`,
 * so that no approved area is lost. Words that the plan puts into focus weigh in every question.
 */
export function questionsOf(plan: string, query: string, limit: number): Question[] {
  const lines = plan.split('\n');
  const own = lines.filter((line) => !labelled(line)).map((line) => areaOf(line).head);
  const focus = lines.flatMap((line) => {
    const found = labelled(line);
    return found?.label === 'focus' ? keysOf(found.content).flat() : [];
  });
  const areas = planToQuestions(own.join('\n'), { maxQuestions: EVERY_AREA });
  const texts = areas.length > 0 ? areas : [{ text: query, terms: [] as string[] }];
  return inGroups(texts, limit).map((group, index) => {
    const text = group.map((area) => area.text).join('; ');
    const terms = group.flatMap((area) => [...keysOf(area.text).flat(), ...area.terms]);
    return {
      id: `q${index + 1}`,
      text: cutToBytes(text, QUESTION_BYTES),
      terms: [...new Set([...terms, ...focus])].slice(0, MOST_TERMS),
    };
  });
}

/** At most `limit` groups of neighbours, the first areas alone as long as there is room. */
function inGroups<T>(list: readonly T[], limit: number): T[][] {
  const groups: T[][] = Array.from({ length: Math.min(limit, list.length) }, () => []);
  list.forEach((entry, index) => {
    groups[Math.floor((index * groups.length) / list.length)]?.push(entry);
  });
  return groups;
}
