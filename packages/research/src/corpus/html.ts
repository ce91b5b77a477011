import type { DocumentText } from './document.ts';

const DROPPED = new Set([
  'SCRIPT',
  'STYLE',
  'NOSCRIPT',
  'TEMPLATE',
  'NAV',
  'SVG',
  'IFRAME',
  'FORM',
  'HEAD',
  'OBJECT',
]);
const BLOCKS = new Set(
  [
    'ADDRESS',
    'ARTICLE',
    'ASIDE',
    'BLOCKQUOTE',
    'BODY',
    'DD',
    'DIV',
    'DL',
    'DT',
    'FIGCAPTION',
    'FIGURE',
    'FOOTER',
  ].concat([
    'HEADER',
    'HTML',
    'MAIN',
    'OL',
    'P',
    'SECTION',
    'UL',
    'TABLE',
    'TBODY',
    'THEAD',
    'HR',
    'DETAILS',
    'SUMMARY',
  ]),
);
const HEADING = /^H[1-6]$/;
const TEXT_NODE = 3;
const ELEMENT_NODE = 1;
const MAX_DEPTH = 500;

type Part = DocumentText['parts'][number];
type Element = { nodeName: string; textContent: string | null; childNodes: Iterable<HtmlNode> };
type HtmlNode = Element & { nodeType: number };

/** Text of an HTML page, one part per heading; scripts, navigation and forms are left out. */
export async function htmlToDocument(html: string, defaultTitle: string): Promise<DocumentText> {
  const { parseHTML } = await import('linkedom');
  const { document } = parseHTML(html);
  const parts: Part[] = [{ heading: '', text: '', markdown: false }];
  const root = document.body?.childNodes.length ? document.body : document.documentElement;
  if (root) collect(root as unknown as HtmlNode, parts, 0);
  const named = squeeze(document.querySelector('title')?.textContent ?? '');
  const first = parts.find((part) => part.heading !== '')?.heading;
  return {
    title: first || named || defaultTitle,
    parts: parts.map((part) => ({ ...part, text: part.text.replace(/[ \t]*\n[ \t]*\n\s*/g, '\n\n').trim() })),
  };
}

function collect(node: HtmlNode, parts: Part[], depth: number): void {
  if (depth > MAX_DEPTH) return;
  const part = parts.at(-1) as Part;
  if (node.nodeType === TEXT_NODE) {
    part.text += (node.textContent ?? '').replace(/\s+/g, ' ');
    return;
  }
  const name = node.nodeName.toUpperCase();
  if (node.nodeType !== ELEMENT_NODE || DROPPED.has(name)) return;
  if (HEADING.test(name)) {
    parts.push({ heading: squeeze(node.textContent ?? ''), text: '', markdown: false });
    return;
  }
  if (name === 'BR') part.text += '\n';
  else if (name === 'PRE') part.text += `\n\n${(node.textContent ?? '').trim()}\n\n`;
  else {
    part.text += before(name);
    for (const child of node.childNodes) collect(child as HtmlNode, parts, depth + 1);
    (parts.at(-1) as Part).text += after(name);
  }
}

function before(name: string): string {
  if (BLOCKS.has(name)) return '\n\n';
  return name === 'LI' ? '\n- ' : '';
}

function after(name: string): string {
  if (BLOCKS.has(name)) return '\n\n';
  if (name === 'TR' || name === 'LI') return '\n';
  return name === 'TD' || name === 'TH' ? ' ' : '';
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
