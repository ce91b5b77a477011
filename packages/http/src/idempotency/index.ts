export { answerOnce, type KeptReply, type OnceOptions, type Ticket } from './answer-once.ts';
export type { Finished } from './record.ts';
export { type KeyedRequest, keyedRequest, type Scope } from './request.ts';
export { type IdempotencyStore, idempotencyStore } from './store.ts';
