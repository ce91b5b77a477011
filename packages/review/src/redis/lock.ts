import type { WorkflowId } from '@plangate/contracts';
import type { Redis } from 'ioredis';
import Redlock from 'redlock';
import type { FeedbackLock, LockAttempt } from '../use-cases/ports.ts';
import { reviewKeys } from './keys.ts';

export interface LockOptions {
  /** Lifetime of the lock in milliseconds; it is renewed at a third of it while held. */
  ttlMs: number;
  /** Told when a renewal or a release failed; neither changes the outcome of a request. */
  onFault: (fault: 'extend' | 'unlock', error: unknown) => void;
}

/**
 * The mutex that keeps two model calls from running for one review. It only saves money: correctness is the
 * version's (design rule 3). Redlock reports a held lock and an unreachable Redis alike, so each attempt has an
 * instance of its own, whose `clientError` tells them apart.
 */
export function createFeedbackLock(redis: Redis, { ttlMs, onFault }: LockOptions): FeedbackLock {
  return async (workflowId: WorkflowId): Promise<LockAttempt> => {
    // Its types were written for older clients; it calls evalsha and eval with a callback, which ioredis has.
    const client = redis as unknown as Redlock.CompatibleRedisClient;
    const redlock = new Redlock([client], { retryCount: 0 });
    let fault: unknown = null;
    redlock.on('clientError', (error: unknown) => {
      fault = error;
    });
    let lock: Redlock.Lock;
    try {
      lock = await redlock.lock(reviewKeys(workflowId).lock, ttlMs);
    } catch {
      if (fault) throw fault;
      return { held: false };
    }
    const renewal = setInterval(() => {
      fault = null;
      Promise.resolve(lock.extend(ttlMs)).catch((error: unknown) => {
        // Redis answered: the lock is another one's or nobody's, and never comes back.
        if (!fault) clearInterval(renewal);
        onFault('extend', fault ?? error);
      });
    }, ttlMs / 3);
    renewal.unref();
    return {
      held: true,
      release: async () => {
        clearInterval(renewal);
        try {
          await lock.unlock();
        } catch (error) {
          onFault('unlock', fault ?? error);
        }
      },
    };
  };
}
