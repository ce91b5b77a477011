import { Passage, Question, type WorkflowId } from '@plangate/contracts';
import { readStored } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { findingsKey } from './keys.ts';

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

  /** Keeps the first finding of its question, also where a step is tried again. Returns the one that stands. */
  async save(id: WorkflowId, finding: Finding): Promise<Finding> {
    const key = findingsKey(id);
    const results = await this.#redis
      .multi()
      .hsetnx(key, finding.question.id, JSON.stringify(finding))
      .expire(key, KEEP_SECONDS)
      .hget(key, finding.question.id)
      .exec();
    const [error, stored] = results?.[2] ?? [];
    if (error) throw error;
    return typeof stored === 'string' ? read(key, stored) : finding;
  }

  /** The findings of these questions, in their order; null where one of them is missing. */
  async load(id: WorkflowId, questionIds: string[]): Promise<Finding[] | null> {
    if (questionIds.length === 0) return [];
    const key = findingsKey(id);
    const stored = await this.#redis.hmget(key, ...questionIds);
    const found = stored.filter((text) => text !== null).map((text) => read(key, text));
    return found.length === questionIds.length ? found : null;
  }

  /** The report is written, or will not be. */
  async remove(id: WorkflowId): Promise<void> {
    await this.#redis.del(findingsKey(id));
  }
}

function read(key: string, text: string): Finding {
  return readStored(key, () => Finding.parse(JSON.parse(text)));
}
