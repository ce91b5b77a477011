export { type Bounds, type Cursor, type Gap, gapFor, parseCursor } from './cursor.ts';
export type { KeyedEvent } from './keyed-event.ts';
export { CONNECTED, encodeEvent, encodeGap, PING, RETRY } from './sse.ts';
export { sseName, typeFilter } from './sse-names.ts';
