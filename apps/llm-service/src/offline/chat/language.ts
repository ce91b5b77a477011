/** The languages that the offline provider chats in. */
export type ChatLanguage = 'en' | 'id';

const INDONESIAN =
  /\b(?:kirim(?:kan|i)?|surel|surat|pesan|ke|kepada|bahwa|yang|dan|lalu|kemudian|tentang|bagaimana|apa|berapa|cuaca|di|tolong|isinya|rapat|jam|pukul|hari|besok|saya|halo)\b/gi;
const ENGLISH =
  /\b(?:e-?mail|send|mail|write|to|that|saying|and|then|about|how|what|is|the|weather|in|please|meeting|at|today|tomorrow|hello|i|my)\b/gi;

/** The language of a sentence by its most frequent words. */
export function chatLanguageOf(text: string): ChatLanguage {
  return count(text, INDONESIAN) > count(text, ENGLISH) ? 'id' : 'en';
}

function count(text: string, pattern: RegExp): number {
  return Array.from(text.matchAll(pattern)).length;
}
