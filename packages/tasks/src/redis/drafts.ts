import { TaskMetadata, type WorkflowId } from '@plangate/contracts';
import { readStored } from '@plangate/redis';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { draftKey } from './keys.ts';

/** Longest time in seconds between a finished result and the end of its task. */
const KEEP_SECONDS = 7 * 24 * 60 * 60;

const Draft = z.object({
  result: z.string(),
  metadata: TaskMetadata,
  modelUsed: z.string(),
  provider: z.string(),
});
/** A finished result, before the end of its task is written. */
export type Draft = z.infer<typeof Draft>;

/**
 * Results on their way to the end of their tasks: they are large, so that a workflow does not carry them
 * (the engine limits a payload to 2 MB).
 */
export class DraftStore {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /**
   * Keeps the first result: a step that is tried again must not put another one in its place.
   * @returns the one that stands
   */
  async save(id: WorkflowId, draft: Draft): Promise<Draft> {
    await this.#redis.set(draftKey(id), JSON.stringify(draft), 'EX', KEEP_SECONDS, 'NX');
    return (await this.load(id)) ?? draft;
  }

  /** Null where there is none. */
  async load(id: WorkflowId): Promise<Draft | null> {
    const stored = await this.#redis.get(draftKey(id));
    return stored === null ? null : readStored(draftKey(id), () => Draft.parse(JSON.parse(stored)));
  }

  /** The end holds the result now. */
  async remove(id: WorkflowId): Promise<void> {
    await this.#redis.del(draftKey(id));
  }
}
