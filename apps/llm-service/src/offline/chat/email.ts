import type { Rule } from './rule.ts';

const ADDRESS = String.raw`[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`;
const BETWEEN = String.raw`(?:\s*,\s*|\s+(?:and|dan|serta)\s+)`;
const VERB = String.raw`(?:(?:send|write|drop)\s+(?:an?\s+)?(?:e-?mail|mail|message|note)|kirim(?:kan|i)?\s+(?:sebuah\s+)?(?:e-?mail|surel|surat|pesan)|e-?mail(?:kan)?|mail|surel(?:i|kan)?|write|tulis(?:kan)?\s+(?:e-?mail|surel|surat|pesan))`;
const TO = String.raw`(?:\s+(?:to|ke|kepada|untuk))?`;

const START = new RegExp(String.raw`\b${VERB}${TO}\s+(${ADDRESS}(?:${BETWEEN}${ADDRESS})*)`, 'giu');
const LINK =
  /^[\s,:]*(?:(?:to\s+)?(?:that|saying(?:\s+that)?|say(?:\s+that)?|tell\s+\w+\s+that)|(?:dengan\s+)?(?:bahwa|isi(?:nya)?|pesan|kalau)|yang\s+(?:isinya|berisi|menyatakan)(?:\s+bahwa)?)?[\s:]+/iu;
const ABOUT = /^[\s,:]*(?:about|regarding|tentang|soal|mengenai|perihal)\s+/iu;
/** Where the subject of a short message ends: what it says of it follows. */
const SAYS_OF_IT =
  /\s+(?:is|are|was|were|will|has|have|had|can|must|moved?|starts?|begins?|ends?|at|on|adalah|akan|sudah|telah|dimulai|mulai|pindah|dipindah(?:kan)?|jam|pukul|pada|besok|hari|di)\b/iu;
const LEADING_ARTICLE = /^(?:the|an?|our|my|your)\s+/iu;
const SUBJECT_WORDS = 6;

/** `email alice@example.com that the meeting is at 10`, `kirim email ke budi@example.com bahwa rapat jam 10`. */
export const emailRule: Rule = {
  start: START,
  read(start, said) {
    const addresses = (start[1] ?? '').match(new RegExp(ADDRESS, 'giu')) ?? [];
    const about = ABOUT.test(said);
    const text = said
      .replace(about ? ABOUT : LINK, '')
      .trim()
      .replace(/^["“]|["”]$/gu, '');
    if (text === '') return [{ tool: 'send_email', fields: ['body'] }];
    const body = sentence(text);
    const subject = about ? capital(text) : subjectOf(text);
    return addresses.map((to) => ({ name: 'send_email', args: { to, subject, body } }));
  },
};

function subjectOf(text: string): string {
  const words = text.replace(LEADING_ARTICLE, '');
  const topic = (words.split(SAYS_OF_IT, 1)[0] ?? '').split(/[,.;:!?]/, 1)[0] ?? '';
  return capital((topic || words).split(' ').slice(0, SUBJECT_WORDS).join(' '));
}

function sentence(text: string): string {
  return /[.!?…]$/u.test(text) ? capital(text) : `${capital(text)}.`;
}

function capital(text: string): string {
  const [first = ''] = text;
  return first.toLocaleUpperCase('en') + text.slice(first.length);
}
