/** The languages that the offline provider writes; others get English. */
export type Language = 'en' | 'ja' | 'zh' | 'id';

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HAN = /\p{Script=Han}/u;
const INDONESIAN =
  /\b(?:yang|dan|bagaimana|apakah|apa|untuk|dengan|dari|pada|adalah|dalam|jelaskan|bandingkan|mengapa|kenapa|cara|tentang|tambahkan|hapus|jangan|tolong|riset|penelitian|rencana|menangani|pustaka|perbedaan|antara|tidak|atau|serta|oleh|kami|saya|bisa|hanya|fokus|fokuskan|perbandingan|siapa|kapan|di mana|teliti|analisis)\b/gi;
const ENGLISH = /\b(?:the|of|and|how|what|is|are|do|does|in|to|for|with|which|why|compare|on|a|an)\b/gi;

/** The language of a text by its script and, for Latin letters, by its most frequent words. */
export function languageOf(text: string): Language {
  if (KANA.test(text)) return 'ja';
  if (HAN.test(text)) return 'zh';
  return count(text, INDONESIAN) > count(text, ENGLISH) ? 'id' : 'en';
}

function count(text: string, pattern: RegExp): number {
  return Array.from(text.matchAll(pattern)).length;
}
