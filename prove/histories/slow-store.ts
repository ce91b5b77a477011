import { ReviewStore } from '@plangate/review/redis';

const CHANCE = 0.1;
const MOST_MS = 15;

/** A store whose answers take longer now and then, so that what was read is old when it is acted upon. */
export class SlowStore extends ReviewStore {
  override async load(...args: Parameters<ReviewStore['load']>): ReturnType<ReviewStore['load']> {
    const loaded = await super.load(...args);
    await lag();
    return loaded;
  }

  override async commit(...args: Parameters<ReviewStore['commit']>): ReturnType<ReviewStore['commit']> {
    const committed = await super.commit(...args);
    await lag();
    return committed;
  }
}

/** Waits a little, mostly not at all. */
export function lag(): Promise<void> {
  if (Math.random() > CHANCE) return Promise.resolve();
  return new Promise((resolve) => setTimeout(resolve, Math.random() * MOST_MS));
}
