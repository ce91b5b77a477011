import type { ServerResponse } from 'node:http';
import { sendJson } from './send-json.ts';

/** An answer as a value, so that it can be kept before it is sent. */
export interface Reply {
  status: number;
  /** Sent as JSON. */
  body: unknown;
  headers?: Record<string, string>;
}

/** Sends a reply. */
export function sendReply(res: ServerResponse, { status, body, headers }: Reply): void {
  sendJson(res, status, body, headers ?? {});
}
