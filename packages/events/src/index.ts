export { type Bounds, type Cursor, type Gap, gapFor, parseCursor } from './cursor.ts';
export type { KeyedEvent } from './keyed-event.ts';
