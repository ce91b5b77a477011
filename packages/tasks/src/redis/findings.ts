import { isDeepStrictEqual } from 'node:util';
import { Passage, Question, type WorkflowId } from '@plangate/contracts';
import { readStored } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { findingsKey } from './keys.ts';
import { scripts } from './scripts.ts';

/** Longest time in seconds between the last finding and the end of its task: a task may be paused meanwhile. */
const KEEP_SECONDS = 90 * 24 * 60 * 60;

const Finding = z.object({
  question: Question,
  passages: z.array(Passage),
  searches: z.int().nonnegative(),
});
/** What was found for one question. */
export type Finding = z.infer<typeof Finding>;

/**
 * What was found, on its way to the report: the passages of all questions together are larger than the engine takes
 * (2 MB a payload), so that a workflow carries the questions alone.
 */
export class FindingStore {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /**
   * Keeps the first finding of its question, also where a step is tried again and finds something else: the events
   * that tell what was found are written once, so the report has to be made of the same. Ids only number the
   * questions of one division of the plan; where the engine was told to run a task again from before it, another
   * question may have the id, and then the finding gives way.
   * @returns the one that stands
   */
  async save(id: WorkflowId, finding: Finding): Promise<Finding> {
    const key = findingsKey(id);
    const text = JSON.stringify(finding);
    let replaced = '';
    for (;;) {
      const args = [finding.question.id, text, replaced, KEEP_SECONDS];
      const stored = String(await scripts.saveFinding(this.#redis, [key], args));
      const standing = read(key, stored);
      if (isSame(standing.question, finding.question)) return standing;
      replaced = stored;
    }
  }

  /** The findings of exactly these questions, in their order; null where one of them is missing. */
  async load(id: WorkflowId, questions: readonly Question[]): Promise<Finding[] | null> {
    if (questions.length === 0) return [];
    const key = findingsKey(id);
    const stored = await this.#redis.hmget(key, ...questions.map((question) => question.id));
    const found = stored.flatMap((text, at) => {
      const finding = text === null ? null : read(key, text);
      return finding && isSame(finding.question, questions[at]) ? [finding] : [];
    });
    return found.length === questions.length ? found : null;
  }

  /** The report is written, or will not be. */
  async remove(id: WorkflowId): Promise<void> {
    await this.#redis.del(findingsKey(id));
  }
}

/** By what the store keeps of a question: a field that only another version knows makes no other question of it. */
function isSame(stored: Question, asked: Question | undefined): boolean {
  return isDeepStrictEqual(stored, Question.parse(asked));
}

function read(key: string, text: string): Finding {
  return readStored(key, () => Finding.parse(JSON.parse(text)));
}
