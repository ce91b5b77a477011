import type { ServerResponse } from 'node:http';

/**
 * A part of a response's body as it goes over the connection, below Node's response: a chunk where the body is
 * chunked (RFC 9112 §7.1).
 */
export function bodyPart({ chunkedEncoding }: ServerResponse, text: string): string {
  return chunkedEncoding ? `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n` : text;
}
