import { createHash, randomBytes } from 'node:crypto';
import type { Owner } from '@plangate/contracts';

/** A new thread's id: 128 random bits in hex (`contract/tool-approval.md §1`). */
export function newThreadId(): string {
  return randomBytes(16).toString('hex');
}

/** The workflow of a thread. Owner and id are both in the hash, so another owner's thread is simply unknown. */
export function threadWorkflowId({ tenant, user }: Owner, threadId: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([tenant, user, threadId]))
    .digest('hex');
  return `thread-${hash}`;
}
