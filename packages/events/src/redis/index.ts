export type { KeyedEvent } from '../keyed-event.ts';
export { APPEND_LUA, encodeAppend } from './append.ts';
export type { SubscriptionHandle } from './feed.ts';
export { EventHub, type EventHubOptions } from './hub.ts';
export { type EventKeys, eventKeys } from './keys.ts';
export { EventLog, type LogBounds } from './log.ts';
export type { Delivery, SubscribeOptions } from './subscription.ts';
export type { ChangedOptions } from './waiters.ts';
