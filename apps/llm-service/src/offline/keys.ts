import { contentWords } from '@plangate/research';
import { inEnglish, TECHNICAL } from './glossary.ts';

/** Words that name what is asked for, each with the spellings that count as the same. */
export type Keys = readonly (readonly string[])[];

const COMPOUND = /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)+/gu;

/** Words of questions and plans that say nothing about their subject. */
const GENERIC = new Set(
  [
    'library package project document documentation readme tool thing way approach difference example overview section',
    'part area topic aspect detail point issue question plan research report information other different various several',
    'handle work explain describe compare cover find investigate tell list show survey analyse analyze summarise summarize',
    'deal support provide offer look discuss include add drop focus need want know make take see write read mean keep',
    'main important best good better new current state common typical available existing one two three kind type',
    'behaviour behavior policy mechanism usage feature option setting process practice implementation role impact',
    'management characteristic requirement basic capability concept consideration key core general specific possible',
    'like people someone much many main whether versus v comparison value',
    'ライブラリ ライブラリー プロジェクト 文書 資料 ツール 方法 違い 調査 調べ 比較 説明 分析 扱い 扱う 扱っ 処理 どう どのように 何 なに 状況 実行 項目 部分 教え れ ら られ どの ように でき 年 まとめ くださ',
    '库 软件 项目 文档 工具 方式 方法 区别 不同 研究 调查 比较 分析 说明 介绍 处理 如何 怎么 怎样 哪些 部分 方面 内容 这些 那些 情况 写 设置 使用 执行 运行',
    'pustaka perpustakaan library proyek dokumen alat cara perbedaan riset penelitian jelaskan bandingkan analisis bagian menangani menggunakan mana antara bidang hal bahas secara para serta',
  ].flatMap((line) => line.split(' ')),
);

/** The words of a text that name its subject; `[]` where it has none. */
export function keysOf(text: string): Keys {
  const normal = text.normalize('NFKC');
  const technical = (normal.match(TECHNICAL) ?? []).filter((word) => inEnglish(word).length > 0);
  const compounds = normal.match(COMPOUND) ?? [];
  const rest = normal
    .replace(TECHNICAL, (word) => (inEnglish(word).length > 0 ? ' ' : word))
    .replace(COMPOUND, ' ');
  const keys: string[][] = [
    ...compounds.map(spellings),
    ...technical.map((word) => [word, ...inEnglish(word)]),
    ...contentWords(rest)
      .filter((word) => !isGeneric(word))
      .map((word) => [word, ...inEnglish(word)]),
  ];
  const seen = new Set<string>();
  return keys.filter(([first = '']) => first !== '' && !seen.has(first) && seen.add(first));
}

/** True for words that many subjects share: generic ones, numbers, single letters and signs. */
export function isGeneric(word: string): boolean {
  return (
    GENERIC.has(word) ||
    /^[\p{N}.]+$/u.test(word) ||
    /^(?:\p{Script=Hiragana}+|[^\p{Script=Han}])$/u.test(word)
  );
}

/** How many of the keys stand in the words, in any of their usual English forms. */
export function matches(keys: Keys, words: ReadonlySet<string>): number {
  return keys.filter((spelled) => spelled.some((word) => formsOf(word).some((form) => words.has(form))))
    .length;
}

/** The words to search for: of a form that no prefix search finds, the verb as well (`validation`, `validate`). */
export function searchTerms(keys: Keys): string[] {
  return keys
    .flat()
    .flatMap((word) => (/^[a-z]{3,}ation$/.test(word) ? [word, `${word.slice(0, -3)}e`] : [word]));
}

/** Words that ask for a side of something else, such as `default values` of locks. */
const DEPENDENT = new Set(
  'default limit limitation option parameter configuration config performance benchmark recommendation advantage disadvantage drawback pro con 既定値 デフォルト 初期値 默认 默认值 bawaan'.split(
    ' ',
  ),
);

/** True where the words name only a side of things, and not the things. */
export function isDependent(keys: Keys): boolean {
  return keys.length > 0 && keys.every((spelled) => spelled.some((word) => DEPENDENT.has(word)));
}

const LATIN = /^[a-z]{4,}$/;
const forms = new Map<string, readonly string[]>();
const MOST_FORMS = 5_000;

/** `retry`, `retried` and `retrying`; `validation`, `validate` and `validating`; other scripts as they are. */
function formsOf(word: string): readonly string[] {
  const known = forms.get(word);
  if (known) return known;
  const found = LATIN.test(word) ? [word, ...inflected(word)] : [word];
  if (forms.size < MOST_FORMS) forms.set(word, found);
  return found;
}

function inflected(word: string): string[] {
  if (word.endsWith('ation') && word.length >= 8) {
    const base = word.slice(0, -3);
    return [`${base}e`, `${base}ed`, `${base}ing`];
  }
  if (/(?:ing|ed)$/.test(word)) return [];
  if (word.endsWith('e')) return [`${word}d`, `${word.slice(0, -1)}ing`];
  if (word.endsWith('y')) return [`${word.slice(0, -1)}ied`, `${word}ing`];
  return [`${word}ed`, `${word}ing`];
}

/** The set of a text's words, to match keys against. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(contentWords(text));
}

/** `time-outs` is also written `timeout` and `time-out`. */
function spellings(compound: string): string[] {
  const lower = compound.toLowerCase();
  const joined = contentWords(lower.replaceAll('-', ''));
  return [...new Set([...joined, lower, lower.replace(/s$/, '')])];
}
