/** Words of an opinion or a question: not the name of a subject. */
const OPINION =
  /\b(?:is|are|was|were|i|it|not|too|this|that|like|why|what|you|no|don't|can't|ini|itu|saya|tidak|kurang|terlalu|kenapa)\b|[?？]|です|ます|ない|だ$|不好|不行|太|很|吗/iu;

/** True where a text says what somebody thinks or asks, and names nothing. */
export function isOpinion(text: string): boolean {
  return OPINION.test(text);
}
