import type { Change } from './change.ts';
import { keptTo, keptToWithoutOrder } from './only-latin.ts';

/** Where a verb may stand to be an order: at the start of a clause, or after words that lead one in. */
const LEAD = String.raw`(?:^|[,;:]\s*|\s(?:-|–|—)\s+|\b(?:and|but|then|also|please|should|kindly|just|let's|let us|(?:can|could|would|must|should) you|(?:i|we)(?:'d| would) like(?: you)? to|i want(?: you)? to|we (?:should|need to)|dan|tetapi|tapi|lalu|juga|tolong|mohon|silakan|harap|saja|kemudian)\s+)`;
const TALK =
  'cover|include|mention|write about|write|discuss|add|research|look at|go into|look into|compare|need|want|care about|spend time on|bother with|talk about';

/** Verbs of each change, the more specific first. */
const VERBS: [Change['kind'], string][] = [
  ['keep', `(?:do not|don't|don’t|never) (?:drop|remove|delete|skip|omit|cut)`],
  ['keep', 'jangan (?:hapus|buang|hilangkan)'],
  ['drop', `(?:do not|don't|don’t|never|no need to|you need not) (?:${TALK})`],
  [
    'drop',
    'jangan (?:bahas|sertakan|masukkan|tulis|sebutkan|teliti|tambahkan)|(?:tidak|tak) (?:perlu|usah)(?: ada| bahas| membahas)?',
  ],
  [
    'drop',
    String.raw`(?:drop|remove|delete|exclude|skip|omit|leave out|cut out|cut|ignore|get rid of|take out|forget|no)\b(?: about)?`,
  ],
  ['drop', '(?:hapuskan|hapus|buang|hilangkan|keluarkan|abaikan|lewati|hindari)'],
  [
    'only',
    `(?:only (?:focus on|look at|cover|include|research|consider)|focus (?:only|exclusively|solely) on|(?:limit|restrict|narrow)(?: it| this| the (?:plan|research|scope))?(?: down)? to|stick to|nothing (?:but|except)|only)`,
  ],
  [
    'only',
    '(?:hanya (?:bahas|fokus pada|sertakan|teliti)|fokus hanya pada|batasi(?: pada| ke)?|hanya|cukup)',
  ],
  [
    'focus',
    `(?:focus(?: more)?(?: on)?|concentrate(?: more)?(?: on)?|prioriti[sz]e|emphasi[sz]e|put (?:more )?(?:emphasis|weight|focus) on|start with|more (?:on|about|detail on|details on)|go deeper (?:on|into)|dig (?:deeper )?into)`,
  ],
  [
    'focus',
    '(?:fokuskan(?: pada| ke)?|fokus(?: pada| ke| di)?|utamakan|prioritaskan|dahulukan|titikberatkan(?: pada)?|tekankan)',
  ],
  ['keep', '(?:keep|retain|preserve|pertahankan|biarkan)'],
  [
    'add',
    `(?:add(?: in)?|include|cover|mention|expand(?: on)?|put in|consider|look at|look into|discuss|what about|how about|i want|we need|take in|bring in|extend it with|compare|contrast|explain|describe|analy[sz]e|investigate)`,
  ],
  [
    'add',
    '(?:tambahkan|tambah|masukkan|sertakan|bahas|lengkapi dengan|lengkapi|ikutkan|bandingkan|jelaskan|teliti|analisis)',
  ],
];
const ORDER = new RegExp(
  `${LEAD}(?:(?:also|please|juga|tolong|just|then)\\s+)*(?:${VERBS.map(([, verb]) => `(${verb})`).join('|')})(?=\\s|$)|(?:^|\\s)(without|tanpa)\\s`,
  'giu',
);
const REPLACE = /\b(?:replace|swap|ganti)\s+(.+?)\s+(?:with|for|by|dengan)\s+(.+)$/iu;
/** Verbs that say what the area is about, so that they stay in its name. */
const NAMED = /^(?:compare|contrast|bandingkan)$/i;
/** Verbs after which `only` keeps the plan to what they name; `add only …` adds. */
const TAKING = /^(?:include|cover|consider|look at|look into|discuss|bahas|sertakan|teliti)$/i;

/** The changes that an English or Indonesian message asks for. */
export function changesInLatin(text: string): Change[] {
  return text.split(/[.!?\n]+(?=\s|$)|\n/).flatMap((sentence) => inSentence(sentence.trim()));
}

function inSentence(sentence: string): Change[] {
  const [, from, to] = REPLACE.exec(sentence) ?? [];
  if (from && to) {
    return [
      { kind: 'drop', what: subject(from) },
      { kind: 'add', what: subject(to) },
    ];
  }
  const orders = Array.from(sentence.matchAll(ORDER));
  const before = sentence.slice(0, orders[0]?.index ?? sentence.length);
  const only = keptToWithoutOrder(before, orders.length === 0);
  const changes = orders.map((order, index): Change => {
    const at = order.slice(1).findIndex((group) => group !== undefined);
    const kind = VERBS[at]?.[0] ?? 'drop';
    const verb = order[at + 1] ?? '';
    const rest = sentence.slice(order.index + order[0].length, orders[index + 1]?.index ?? sentence.length);
    const canNarrow = kind === 'focus' || kind === 'keep' || TAKING.test(verb);
    const narrowed = canNarrow ? keptTo(rest) : undefined;
    if (narrowed !== undefined) return { kind: 'only', what: subject(narrowed) };
    return { kind, what: NAMED.test(verb) ? `${verb} ${subject(rest)}` : subject(rest) };
  });
  return only === undefined ? changes : [{ kind: 'only', what: subject(only) }, ...changes];
}

/** The thing itself: without articles, politeness and words such as `section`. */
function subject(text: string): string {
  return text
    .trim()
    .replace(/^(?:also|more|only|just|juga|hanya|saja|tentang|soal|pada)\s+/i, '')
    .replace(/^(?:on|about|of|to)\s+/i, '')
    .replace(/^(?:(?:a|an|the|some|any|another|one|my|our)\s+)+/i, '')
    .replace(
      /^(?:(?:(?:short|new|separate|brief|whole|entire)\s+)*(?:sections?|parts?|areas?|chapters?|paragraphs?|points?|topics?|bagian|bab|topik|bidang)\s+)(?:(?:on|about|of|for|with|tentang|mengenai|soal)\s+)?(?:(?:the|a|an)\s+)?/i,
      '',
    )
    .replace(
      /(?:[\s,]+(?:and|but|then|also|please|too|as well|instead|first|dan|tetapi|lalu|juga|saja|ya|dulu))+$/i,
      '',
    )
    .replace(/(?:\s+(?:sections?|parts?|areas?|chapters?|points?|topics?))$/i, '')
    .replace(
      /(?:\s+(?:in|from|to) the (?:plan|research|report|sources)|\s+(?:dari|ke(?: dalam)?) (?:rencana|sumber))$/i,
      '',
    );
}
