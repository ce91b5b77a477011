import { type Corpus, nameOf } from '@plangate/research/corpus';
import { type Area, areaFor, covers, fitting, strengthOf } from './covering.ts';
import { type Keys, keysOf, matches, wordSet } from './keys.ts';
import { SIGNATURE } from './sentences.ts';
import { broaderThan, capitalised, subjectsOf } from './subjects.ts';

export interface Coverage {
  areas: Area[];
  /** Subjects of the query that no document covers. */
  missing: string[];
  /** Subjects that a document mentions in passing; broader ones stand in for them. */
  mentioned: string[];
}

const MOST_AREAS = 6;
const FEWEST_AREAS = 3;
const ENOUGH_DOCUMENTS = 2;
const MOST_OUTLINES = 2;
/** A heading makes an area of its own where so much stands under it. */
const HEADING_STRENGTH = 3;
const ADMINISTRATIVE =
  /^(?:summary|details|features|motivation|about|overview|quick ?start|getting started|introduction|notes?|faq|documentation|options|methods)$|licen[cs]e|install|contribut|changelog|sponsor|author|credit|table of contents|^usage$|^example|^api$|^readme|acknowledg|badge|security|support|community|development|^(?:unit |running |run )?tests?|^build|migrat|upgrad|^(?:some )?notes? |roadmap|benchmark|browser|compatib|requirement|^errors?$/i;

/**
 * What the documents cover of a query: its subjects and, where it names one, the headings that fit. Where hardly a
 * document covers a subject, the broader ones in it stand beside it.
 */
export function coverageOf(corpus: Corpus, query: string): Coverage {
  const subjects = subjectsOf(query);
  const areas = new Map<string, Area>();
  const missing: string[] = [];
  const mentioned: string[] = [];
  for (const subject of subjects) {
    const own = areaFor(corpus, subject);
    const parts = own.documents.length < ENOUGH_DOCUMENTS ? broaderThan(subject) : [];
    const broader = parts
      .map((part) => areaFor(corpus, part))
      .filter(({ documents, mentioned }) => documents.length > 0 && !mentioned);
    const named = own.documents.length > 0 && !(own.mentioned && broader.length > 0);
    if (own.documents.length === 0) missing.push(subject);
    else if (!named) mentioned.push(subject);
    for (const area of [...(named ? [own] : []), ...broader])
      if (!areas.has(area.title)) areas.set(area.title, area);
  }
  const found = [...areas.values()];
  if (subjects.length === 1 && found.length > 0 && found.length < FEWEST_AREAS) {
    found.push(...headingAreas(corpus, subjects, found, MOST_AREAS - 1 - found.length));
  }
  return { areas: found.slice(0, MOST_AREAS), missing, mentioned };
}

/** Headings about a subject, in documents that say enough under them, as areas of their own. */
function headingAreas(
  corpus: Corpus,
  subjects: readonly string[],
  taken: readonly Area[],
  limit: number,
): Area[] {
  const used = new Set(taken.map(({ title }) => keysOf(title).flat().join(' ')));
  const areas: Area[] = [];
  for (const subject of subjects) {
    const keys = keysOf(subject);
    const passages = [...outlines(corpus, keys), ...fitting(corpus, subject)];
    for (const [heading, under] of Map.groupBy(passages, ({ heading }) => heading)) {
      const [first] = under;
      if (areas.length >= limit || !first) break;
      const name = heading.replace(/[:：.]+$/, '').trim();
      const key = keysOf(name).flat().join(' ');
      const own = under.filter(({ url }) => url === first.url);
      const about = covers(keys, `${name} ${first.title}`) && matches(keys, wordSet(name + first.title)) > 0;
      if (!about || !isReadable(name) || used.has(key) || name.toLowerCase() === first.title.toLowerCase())
        continue;
      if (strengthOf(own, keysOf(name), []) < HEADING_STRENGTH) continue;
      used.add(key);
      areas.push({ title: capitalised(name), documents: [nameOf(first)] });
    }
  }
  return areas;
}

/** The passages of documents whose title names the subject. */
function outlines(corpus: Corpus, keys: Keys) {
  return corpus.documents
    .filter(({ title }) => covers(keys, title))
    .slice(0, MOST_OUTLINES)
    .flatMap(({ id }) => corpus.passagesOf(id));
}

/** False for signatures of functions and for what every document has. */
function isReadable(heading: string): boolean {
  return (
    !/[?？]$/.test(heading) &&
    !SIGNATURE.test(heading) &&
    !ADMINISTRATIVE.test(heading) &&
    heading.length <= 60 &&
    keysOf(heading).length > 0
  );
}
