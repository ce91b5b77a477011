/** Most bytes read of one response: room for the largest report with every character escaped. */
const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/** A response that is not text, or too much of it. Never retried. */
export class BadResponse extends Error {
  override readonly name = 'BadResponse';
}

/**
 * A `fetch` for the AI SDK that reads the whole body at most up to a limit and refuses invalid UTF-8, which
 * `Response.text()` would replace silently. In the OpenAI chat format, content given as an array of parts becomes
 * the text of its text parts (the SDK's OpenAI model takes a string only).
 */
export function guardFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const bytes = await readBody(response);
    const text = response.ok ? joinContentParts(decode(bytes)) : new TextDecoder().decode(bytes);
    const headers = new Headers(response.headers);
    for (const name of ['content-encoding', 'content-length']) headers.delete(name);
    const { status, statusText } = response;
    return new Response(status === 204 || status === 304 ? null : text, { status, statusText, headers });
  };
}

async function readBody(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > BODY_LIMIT_BYTES) throw new BadResponse('response too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new BadResponse('response is not UTF-8');
  }
}

function joinContentParts(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  let joined = false;
  for (const choice of list(field(body, 'choices'))) {
    const message = field(choice, 'message');
    const content = field(message, 'content');
    if (!Array.isArray(content)) continue;
    joined = true;
    (message as { content: string }).content = content.map(textOfPart).join('');
  }
  return joined ? JSON.stringify(body) : text;
}

function textOfPart(part: unknown): string {
  const text = field(part, 'type') === 'text' ? field(part, 'text') : undefined;
  return typeof text === 'string' ? text : '';
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
