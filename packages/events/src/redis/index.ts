export type { KeyedEvent } from '../keyed-event.ts';
export { APPEND_LUA, encodeAppend } from './append.ts';
export { type EventKeys, eventKeys } from './keys.ts';
export { EventLog, type LogBounds } from './log.ts';
