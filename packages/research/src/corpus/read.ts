import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { cleanText, isBlank } from '@plangate/contracts';
import { type DocumentText, markdownTitle } from './document.ts';
import { htmlToDocument } from './html.ts';

export type ReadResult = ({ ok: true } & DocumentText) | { ok: false; reason: string };

/** A longer file is not read. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
const CHARSET = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i;
const CHARSET_WITHIN_BYTES = 1024;

/** Title and text of a document; a file that cannot be taken as text gives the reason, it never throws. */
export async function readDocument(path: string, defaultTitle: string): Promise<ReadResult> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) return { ok: false, reason: 'it is larger than 10 MB' };
    if (size === 0) return { ok: false, reason: 'it is empty' };
    const bytes = await readFile(path);
    const document = await toDocument(bytes, extname(path).toLowerCase(), defaultTitle);
    if (typeof document === 'string') return { ok: false, reason: document };
    if (document.parts.every((part) => isBlank(part.text))) return { ok: false, reason: 'it holds no text' };
    return { ok: true, ...document };
  } catch (error) {
    return {
      ok: false,
      reason: `it cannot be read (${error instanceof Error ? error.message : 'unknown error'})`,
    };
  }
}

async function toDocument(
  bytes: Uint8Array,
  kind: string,
  defaultTitle: string,
): Promise<DocumentText | string> {
  if (kind === '.pdf') return pdfToDocument(bytes, defaultTitle);
  const html = kind === '.html' || kind === '.htm';
  const text = decode(bytes, html);
  if (text === undefined) return 'it is not text';
  if (html) return htmlToDocument(text, defaultTitle);
  if (kind === '.txt' || kind === '.text') {
    return { title: defaultTitle, parts: [{ heading: '', text, markdown: false }] };
  }
  return { title: markdownTitle(text) ?? defaultTitle, parts: [{ heading: '', text, markdown: true }] };
}

/** Text in UTF-8, in UTF-16 with a byte order mark, or in the charset that an HTML page names; else undefined. */
function decode(bytes: Uint8Array, html: boolean): string | undefined {
  try {
    const encoding = encodingOf(bytes, html);
    if (encoding === 'utf-8' && bytes.includes(0)) return undefined;
    return cleanText(new TextDecoder(encoding, { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function encodingOf(bytes: Uint8Array, html: boolean): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (!html) return 'utf-8';
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, CHARSET_WITHIN_BYTES));
  return CHARSET.exec(start)?.[1]?.toLowerCase() ?? 'utf-8';
}

async function pdfToDocument(bytes: Uint8Array, defaultTitle: string): Promise<DocumentText> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf');
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  try {
    const { text } = await extractText(pdf, { mergePages: false });
    const title: unknown = (await getMeta(pdf)).info?.['Title'];
    return {
      title: typeof title === 'string' && !isBlank(title) ? cleanText(title).trim() : defaultTitle,
      parts: text.map((page, index) => ({
        heading: `Page ${index + 1}`,
        text: cleanText(page),
        markdown: false,
      })),
    };
  } finally {
    await pdf.loadingTask.destroy();
  }
}
