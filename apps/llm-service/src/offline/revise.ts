import type { Corpus } from '@plangate/research/corpus';
import type { Change } from './change.ts';
import { areaText } from './first-plan.ts';
import { isDependent, keysOf, matches, wordSet } from './keys.ts';
import { documentsNamed } from './named.ts';
import { areaOf, type Label, labelLine, labelled, type Phrases } from './phrases.ts';
import {
  focusIn,
  itemsOf,
  newItem,
  type PlanItem,
  type PlanLines,
  type PlanPart,
  readPlan,
  writePlan,
} from './plan-lines.ts';
import { areaIn, lookIn, takeOut, withoutNamed } from './sources.ts';

/** A revised plan, or why there is none: the changes would leave no area. */
export type Revision = { ok: true; plan: string } | { ok: false };

/**
 * The plan with the changes made to its own lines, also where a person edited them: areas are added at the end,
 * dropped, or put first; every other line stays.
 */
export function revise(plan: string, changes: readonly Change[], corpus: Corpus, phrases: Phrases): Revision {
  const lines = readPlan(plan);
  const notes: string[] = [];
  for (const change of changes) notes.push(...apply(lines, change, corpus, phrases));
  if (itemsOf(lines).length === 0) return { ok: false };
  setLabel(lines, phrases, 'changes', () => notes.join('; '));
  return { ok: true, plan: writePlan(lines) };
}

function apply(lines: PlanLines, { kind, what }: Change, corpus: Corpus, phrases: Phrases): string[] {
  const fitting = itemsOf(lines).filter((item, index) => isMeant(item, index, what));
  switch (kind) {
    case 'keep':
      return [phrases.kept(what)];
    case 'add': {
      if (fitting.some((item) => isSame(item, what))) return [phrases.alreadyThere(what)];
      add(lines, what, corpus, phrases);
      setLabel(lines, phrases, 'leftOut', (old) => without(old, what), true);
      return [phrases.added(what)];
    }
    case 'drop': {
      drop(lines, fitting);
      const isSource = takeOut(lines, documentsNamed(corpus, what), corpus, phrases);
      setLabel(lines, phrases, 'leftOut', (old) => withPart(old, what));
      setLabel(lines, phrases, 'focus', (old) => withoutNamed(old, what, corpus), true);
      if (fitting.length > 0) return [phrases.dropped(what)];
      return [isSource ? phrases.noSource(what) : phrases.notThere(what)];
    }
    case 'only':
    case 'focus':
      if (fitting.length > 0) {
        if (kind === 'only') leaveOut(lines, phrases, fitting);
        putFirst(lines, fitting);
      } else {
        const { order, covered } = lookIn(lines, documentsNamed(corpus, what), kind, corpus, phrases);
        if (kind === 'only' && covered.length > 0) leaveOut(lines, phrases, covered);
        putFirst(lines, order);
      }
      setLabel(lines, phrases, 'focus', () => what);
      return [kind === 'only' ? phrases.limited(what) : phrases.focused(what)];
  }
}

const ORDINAL =
  /^(?:(?:item|area|number|no\.?|nomor|poin|#)\s*)?(\d{1,2})$|^第?(\d{1,2})(?:番目?|点|项|項|个|個|条)?$/iu;

/** True where the words name this area: by its number, its text, or the words that carry meaning. */
function isMeant({ text }: PlanItem, index: number, what: string): boolean {
  const ordinal = ORDINAL.exec(what.trim());
  if (ordinal) return Number(ordinal[1] ?? ordinal[2]) === index + 1;
  const { head } = areaOf(text);
  if (head.toLowerCase().includes(what.toLowerCase())) return true;
  const keys = keysOf(head);
  const wanted = what.split(/\s*(?:,|、|，|;|\band\b|\bdan\b|\bor\b|\batau\b|和|与|及|と)\s*/u);
  const words = wordSet(head);
  return wanted.some((part) => {
    const parts = keysOf(part);
    return (
      parts.length > 0 &&
      (matches(parts, words) === parts.length || matches(keys, wordSet(part)) === keys.length) &&
      keys.length > 0
    );
  });
}

/** True where the area is the subject and nothing more: adding it again would say the same twice. */
function isSame({ text }: PlanItem, what: string): boolean {
  const head = keysOf(areaOf(text).head);
  return matches(keysOf(what), new Set(head.flat())) >= Math.max(1, head.length);
}

function add(lines: PlanLines, what: string, corpus: Corpus, phrases: Phrases): void {
  const named = documentsNamed(corpus, focusIn(writePlan(lines)));
  const others = itemsOf(lines).map(({ text }) => areaOf(text));
  const dependent = isDependent(keysOf(what));
  const context = dependent ? others.flatMap(({ head }) => keysOf(head)) : [];
  const known = dependent && named.length === 0 ? others.flatMap(({ documents }) => documents) : [];
  const wanted = named.length > 0 ? named : known.flatMap((name) => documentsNamed(corpus, name));
  const found = areaIn(corpus, what, wanted, context);
  const area = named.length > 0 ? found : { ...found, silent: [] };
  const item = newItem(lines, areaText(area, phrases));
  const last = lines.parts.findLastIndex(({ kind }) => kind === 'item');
  const part: PlanPart = { kind: 'item', item };
  if (last >= 0) lines.parts.splice(last + 1, 0, part);
  else lines.parts.push(part);
}

/** Of the areas only these stay; the others are named as left out. */
function leaveOut(lines: PlanLines, phrases: Phrases, staying: readonly PlanItem[]): void {
  const rest = itemsOf(lines).filter((item) => !staying.includes(item));
  drop(lines, rest);
  const names = rest.map(({ text }) => areaOf(text).head);
  setLabel(lines, phrases, 'leftOut', (old) => names.reduce(withPart, old));
}

function drop(lines: PlanLines, items: readonly PlanItem[]): void {
  lines.parts = lines.parts.filter((part) => part.kind !== 'item' || !items.includes(part.item));
}

/** Areas change places among themselves; the lines between them stay where they are. */
function putFirst(lines: PlanLines, first: readonly PlanItem[]): void {
  const order = [...first, ...itemsOf(lines).filter((item) => !first.includes(item))];
  lines.parts = lines.parts.map((part): PlanPart => {
    if (part.kind !== 'item') return part;
    const item = order.shift();
    return item ? { kind: 'item', item } : part;
  });
}

/** Sets a labelled line, where it stands or at the end; empty content removes it. */
function setLabel(
  lines: PlanLines,
  phrases: Phrases,
  label: Label,
  content: (old: string) => string,
  onlyIfThere = false,
): void {
  const at = lines.parts.findIndex((part) => part.kind === 'text' && labelled(part.line)?.label === label);
  const there = lines.parts[at];
  const old = there?.kind === 'text' ? (labelled(there.line)?.content ?? '') : '';
  if (!there && onlyIfThere) return;
  const text = content(old);
  if (there && text === '') {
    lines.parts.splice(at, 1);
    return;
  }
  if (text === '') return;
  const part: PlanPart = { kind: 'text', line: labelLine(phrases, label, text) };
  if (there) lines.parts[at] = part;
  else lines.parts.push(...gapBefore(lines), part);
}

/** A blank line between the areas and the first labelled line. */
function gapBefore({ parts }: PlanLines): PlanPart[] {
  const last = parts.at(-1);
  const needed =
    last?.kind === 'item' || (last?.kind === 'text' && last.line.trim() !== '' && !labelled(last.line));
  return needed ? [{ kind: 'text', line: '' }] : [];
}

function withPart(list: string, part: string): string {
  return list === '' ? part : `${without(list, part)}; ${part}`.replace(/^; /, '');
}

function without(list: string, part: string): string {
  return list
    .split(/;\s*/)
    .filter((entry) => entry.toLowerCase() !== part.toLowerCase())
    .join('; ');
}
