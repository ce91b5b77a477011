import type { Change } from './change.ts';
import { changesInChinese } from './changes-chinese.ts';
import { changesInJapanese } from './changes-japanese.ts';
import { changesInLatin } from './changes-latin.ts';
import { isOpinion } from './opinion.ts';

const LONGEST_SUBJECT = 200;
/** Of a longer sentence only the start is read for orders. */
const LONGEST_SENTENCE = 600;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HAN = /\p{Script=Han}/u;
const APPROVAL =
  /\bapproved?\b|\blooks? (?:good|great|fine)\b|\bgo ahead\b|\blgtm\b|\bstart (?:the )?research\b|\bproceed\b|^\s*(?:ok(?:ay)?|yes|yep|sure|good|great|perfect)\b|承認|問題(?:ない|ありません)|いいです|良いです|進めて|批准|同意|没问题|可以开始|开始吧|\bsetuju\b|\bdisetujui\b|\blanjutkan\b|\bmulai\b/iu;

/** What a message asks to change, in English, Indonesian, Japanese or Chinese; `[]` where it names nothing. */
export function changesIn(message: string): Change[] {
  const text = message
    .normalize('NFC')
    .split(/(?<=[.!?。！？；;])|\n/u)
    .map((sentence) => sentence.slice(0, LONGEST_SENTENCE))
    .join('\n')
    .replace(/[ \t]+/g, ' ');
  const found = KANA.test(text)
    ? changesInJapanese(text)
    : HAN.test(text)
      ? changesInChinese(text)
      : changesInLatin(text);
  const changes = found
    .map(({ kind, what }) => ({ kind, what: trimmed(what) }))
    .filter(({ what }) => /[\p{L}\p{N}]/u.test(what));
  if (changes.length > 0) return changes;
  return namesSubject(text) ? [{ kind: 'add', what: trimmed(text) }] : [];
}

/** True where a message talks as if it could approve. It cannot: only the typed action of a person does. */
export function soundsLikeApproval(message: string): boolean {
  return APPROVAL.test(message);
}

/** A few words without an opinion, such as `knowledge graphs`, name something to add. */
function namesSubject(text: string): boolean {
  const short = HAN.test(text) || KANA.test(text) ? text.length <= 24 : text.trim().split(/\s+/).length <= 6;
  return short && !isOpinion(text) && !soundsLikeApproval(text);
}

function trimmed(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/^[\s\p{Po}\p{Pd}]+|[\s\p{Po}\p{Pd}]+$/gu, '')
    .slice(0, LONGEST_SUBJECT);
}
