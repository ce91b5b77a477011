import type { WorkflowEvent } from '@plangate/contracts';
import type { Gap } from './cursor.ts';
import { toJsonLine } from './json.ts';
import { sseName } from './sse-names.ts';

/** Milliseconds after which a client comes back. */
const RETRY_MS = 2_000;

/** Tells the client when to come back; also the last bytes of a stream that is broken off before `done`. */
export const RETRY = `retry: ${RETRY_MS}\n\n`;

/** A comment that keeps proxies from closing a quiet stream. */
export const PING = ': ping\n\n';

/** The first bytes of every stream. */
export function CONNECTED(workflowId: string): string {
  return `: connected to workflow ${oneLine(workflowId)}\n${RETRY}`;
}

/**
 * The frame of one event (WHATWG HTML §9.2.6; names and JSON as in `contract/plan-review.md` §3). Its data is
 * JSON on one line, so no text of an event can end the frame.
 * @throws {Error} where the id or the name holds CR, LF or NUL
 */
export function encodeEvent(event: WorkflowEvent): string {
  const name = sseName(event.type);
  const data = event.type === 'STREAM_END' ? '[DONE]' : toJsonLine(dataOf(event, name));
  return `id: ${oneLine(event.stream_id)}\nevent: ${oneLine(name)}\ndata: ${data}\n\n`;
}

/** The frame that says what the client has missed. It has no id: the client's resume point stays as it was. */
export function encodeGap(gap: Gap): string {
  return `event: gap\ndata: ${toJsonLine(gap)}\n\n`;
}

function dataOf(event: WorkflowEvent, name: string): Record<string, unknown> {
  const { message, type: _, ...rest } = event;
  if (event.type === 'LLM_OUTPUT') return { response: message, ...rest };
  if (event.type === 'LLM_PARTIAL') {
    const { timestamp: __, ...delta } = rest;
    return { delta: message, ...delta };
  }
  return { ...event, type: name };
}

function oneLine(text: string): string {
  if (/[\r\n\0]/.test(text)) throw new Error(`not a field of an event stream: ${JSON.stringify(text)}`);
  return text;
}
