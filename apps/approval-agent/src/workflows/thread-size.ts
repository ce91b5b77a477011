import { utf8Bytes } from '@plangate/contracts/text';
import { type CallResult, DomainError, ModelReplyError, type ThreadState } from '@plangate/tool-approval';

/** Longest thread in bytes of its JSON: it travels to the model with every call, and with its review to the next run. */
const THREAD_LIMIT_BYTES = 1024 * 1024;
/** Longest reply of a model in bytes of its JSON: with a review's copy of it a thread stays within one payload of Temporal. */
const REPLY_LIMIT_BYTES = 512 * 1024;

/** The thread has no room for what was sent; nothing has changed. */
export class ThreadFullError extends DomainError {
  override readonly name = 'ThreadFullError';
  constructor() {
    super('Percakapan ini sudah mencapai batas 1 MiB. Mulai percakapan baru.');
  }
}

/** @throws {ThreadFullError} where a person's words would make the thread too long; without any it never is */
export function requireRoom(state: ThreadState, words: readonly unknown[]): void {
  if (words.length > 0 && !hasRoom(state, words)) throw new ThreadFullError();
}

/** @throws {ModelReplyError} where a model's words would */
export function requireRoomForReply(state: ThreadState, reply: unknown): void {
  const fits = bytesOf(reply) <= REPLY_LIMIT_BYTES && hasRoom(state, reply);
  if (!fits) throw new ModelReplyError('the reply makes the thread too long');
}

/** The result of a call, or, where the thread has no room for it, that it was left out; the call has run all the same. */
export function fittingResult(state: ThreadState, tool: string, result: CallResult): CallResult {
  if (hasRoom(state, result.content)) return result;
  const content = `Error: ${tool} was executed, but its result does not fit into this conversation any more.`;
  return { ...result, content, status: 'error' };
}

/** The review's copy of what waits is not counted: it goes with the answer, which must never find the thread full. */
function hasRoom(state: ThreadState, more: unknown): boolean {
  return bytesOf({ ...state, review: null }) + bytesOf(more) <= THREAD_LIMIT_BYTES;
}

function bytesOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value));
}
