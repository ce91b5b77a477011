import type { Language } from './language.ts';

/** Everything that the offline provider says, in one language. Labels begin a line of a plan. */
export interface Phrases {
  title: (query: string) => string;
  intro: (documents: number) => string;
  sources: string;
  nothing: string;
  /** Of the documents that a person named, those without the area. */
  silent: (names: string) => string;
  /** A subject that some document names and none covers. */
  mentioned: (what: string) => string;
  sectionSilent: (names: string) => string;
  labels: Record<Label, string>;
  inOrder: string;
  otherContents: string;
  added: (what: string) => string;
  dropped: (what: string) => string;
  focused: (what: string) => string;
  /** The plan is kept to that. */
  limited: (what: string) => string;
  /** Named documents are no sources any more. */
  noSource: (what: string) => string;
  kept: (what: string) => string;
  alreadyThere: (what: string) => string;
  notThere: (what: string) => string;
  askWhat: (query: string, documents: number, examples: string) => string;
  askChange: string;
  askRest: string;
  approvalIsYours: string;
  stated: string;
  summary: string;
  sectionNothing: string;
  /** Everything that fits the section stands in an earlier one. */
  sectionAbove: string;
  reportNothing: string;
  reportNote: string;
  answerIntro: string;
  answerNothing: (documents: number) => string;
}

export type Label = 'changes' | 'priority' | 'focus' | 'leftOut' | 'missing';

export const PHRASES: Record<Language, Phrases> = {
  en: {
    title: (query) => `Research plan: ${query}`,
    intro: (documents) => `What the ${documents} local documents cover, most relevant first:`,
    sources: 'sources',
    nothing: 'nothing about it in the local documents so far',
    silent: (names) => `nothing in ${names}`,
    mentioned: (what) => `${what} (only mentioned in passing)`,
    sectionSilent: (names) => `No sentence on this in the local documents of ${names}.`,
    labels: {
      changes: 'Changes',
      priority: 'Priority',
      focus: 'Focus',
      leftOut: 'Left out',
      missing: 'Not in the documents',
    },
    inOrder: 'the areas in this order',
    otherContents: 'everything else that the documents hold',
    added: (what) => `added "${what}"`,
    dropped: (what) => `dropped "${what}"`,
    focused: (what) => `put "${what}" first`,
    limited: (what) => `limited to "${what}"`,
    noSource: (what) => `took "${what}" out of the sources`,
    kept: (what) => `kept "${what}"`,
    alreadyThere: (what) => `"${what}" is in the plan already`,
    notThere: (what) => `the plan had nothing on "${what}"`,
    askWhat: (query, documents, examples) =>
      `I understand that you want to know: ${query}\n\nNone of the ${documents} local documents fits that, so a plan would find nothing in them.${examples && ` They are about things such as ${examples}.`}\n\n1. Which topics should the research focus on?\n2. Is there something it should leave out?\n\nYour answer becomes a plan, which says where the documents are silent.`,
    askChange:
      'I kept the plan as it is, because I do not see what to change in it. Which area should I add, drop or put first?',
    askRest: 'That would leave no area in the plan, so I kept it as it is. What should it cover instead?',
    approvalIsYours:
      'A message does not start the research. If the plan is right, approve it; otherwise tell me what to add, drop or put first.',
    stated: 'The areas that you asked for; the local documents may be silent on them:',
    summary: 'Summary',
    sectionNothing: 'The local documents say nothing about this.',
    sectionAbove: 'What the local documents say about this is quoted in the sections above.',
    reportNothing: 'The local documents say nothing about any area of the plan.',
    reportNote:
      'Made without a language model: every sentence above is quoted from the numbered passage that it cites.',
    answerIntro: 'From the local documents:',
    answerNothing: (documents) =>
      `I have no documents on that: none of the ${documents} local documents fits the question, and no language model is set up.`,
  },
  ja: {
    title: (query) => `調査計画：${query}`,
    intro: (documents) => `ローカル文書${documents}件が扱っている領域（関連の強い順）：`,
    sources: '資料',
    nothing: '今のところローカル文書に記述がありません',
    silent: (names) => `記述なし ${names}`,
    mentioned: (what) => `${what}（わずかな言及のみ）`,
    sectionSilent: (names) => `次のローカル文書には、これについての文がありません：${names}。`,
    labels: {
      changes: '変更点',
      priority: '優先順位',
      focus: '重点',
      leftOut: '対象外',
      missing: '文書に記述なし',
    },
    inOrder: '上の順番のとおり',
    otherContents: '文書のその他の内容',
    added: (what) => `「${what}」を追加`,
    dropped: (what) => `「${what}」を削除`,
    focused: (what) => `「${what}」を最優先に`,
    limited: (what) => `「${what}」に限定`,
    noSource: (what) => `「${what}」を資料から除外`,
    kept: (what) => `「${what}」を維持`,
    alreadyThere: (what) => `「${what}」はすでに計画にあります`,
    notThere: (what) => `「${what}」は計画にありませんでした`,
    askWhat: (query, documents, examples) =>
      `ご質問の理解：${query}\n\nローカル文書${documents}件の中に、これに合うものはありません。このまま計画を立てても、文書からは何も見つかりません。${examples && `文書の内容は、例えば ${examples} です。`}\n\n1. どのテーマに重点を置きますか。\n2. 対象から外すものはありますか。\n\nお答えをもとに計画を作り、文書に記述がない点はその旨を明記します。`,
    askChange:
      '変更点が読み取れなかったため、計画はそのままにしました。追加、削除、または優先する領域を教えてください。',
    askRest: 'それでは計画に領域が残らないため、そのままにしました。代わりに何を扱いますか。',
    approvalIsYours:
      'メッセージでは調査は始まりません。計画がよければ承認してください。そうでなければ、追加、削除、または優先する点を教えてください。',
    stated: 'ご指定の領域（ローカル文書に記述がない場合があります）：',
    summary: '要約',
    sectionNothing: 'ローカル文書には、これについての記述がありません。',
    sectionAbove: 'これについてローカル文書にある文は、上の節ですでに引用しています。',
    reportNothing: 'ローカル文書には、計画のどの領域についても記述がありません。',
    reportNote: '言語モデルを使わずに作成しました。各文は、番号の示す箇所からそのまま引用しています。',
    answerIntro: 'ローカル文書より：',
    answerNothing: (documents) =>
      `これに関する文書がありません。ローカル文書${documents}件の中に質問に合うものがなく、言語モデルも設定されていません。`,
  },
  zh: {
    title: (query) => `研究计划：${query}`,
    intro: (documents) => `${documents} 份本地文档涉及的领域（按相关程度排列）：`,
    sources: '资料',
    nothing: '目前本地文档中没有相关内容',
    silent: (names) => `没有内容 ${names}`,
    mentioned: (what) => `${what}（仅略有提及）`,
    sectionSilent: (names) => `以下本地文档中没有关于此项的语句：${names}。`,
    labels: { changes: '更改', priority: '优先级', focus: '重点', leftOut: '不包括', missing: '文档中没有' },
    inOrder: '按以上顺序',
    otherContents: '文档中的其他内容',
    added: (what) => `加入“${what}”`,
    dropped: (what) => `删除“${what}”`,
    focused: (what) => `优先“${what}”`,
    limited: (what) => `仅限“${what}”`,
    noSource: (what) => `不再使用资料“${what}”`,
    kept: (what) => `保留“${what}”`,
    alreadyThere: (what) => `计划中已有“${what}”`,
    notThere: (what) => `计划中没有“${what}”`,
    askWhat: (query, documents, examples) =>
      `我对问题的理解：${query}\n\n${documents} 份本地文档中没有与此相符的内容，直接制定计划将找不到任何资料。${examples && `文档涉及的内容例如 ${examples}。`}\n\n1. 研究应重点关注哪些主题？\n2. 有什么需要排除的吗？\n\n我会根据您的回答制定计划，并注明文档没有涉及的部分。`,
    askChange: '我没有看出需要修改的地方，计划保持不变。请告诉我要加入、删除或优先哪个领域。',
    askRest: '这样计划中就没有领域了，所以保持不变。应该改为研究什么？',
    approvalIsYours: '消息不会启动研究。如果计划合适，请批准；否则请告诉我要加入、删除或优先什么。',
    stated: '您要求的领域（本地文档可能没有相关内容）：',
    summary: '摘要',
    sectionNothing: '本地文档没有这方面的内容。',
    sectionAbove: '本地文档中有关此项的语句已在上文各节中引用。',
    reportNothing: '本地文档没有涉及计划中的任何领域。',
    reportNote: '未使用语言模型：以上每一句都原样引自其编号所指的段落。',
    answerIntro: '来自本地文档：',
    answerNothing: (documents) =>
      `我没有这方面的文档：${documents} 份本地文档都与问题不符，也没有设置语言模型。`,
  },
  id: {
    title: (query) => `Rencana riset: ${query}`,
    intro: (documents) => `Yang dibahas oleh ${documents} dokumen lokal, dari yang paling relevan:`,
    sources: 'sumber',
    nothing: 'sejauh ini tidak ada di dokumen lokal',
    silent: (names) => `tidak ada di ${names}`,
    mentioned: (what) => `${what} (hanya disinggung sekilas)`,
    sectionSilent: (names) => `Tidak ada kalimat tentang ini di dokumen lokal ${names}.`,
    labels: {
      changes: 'Perubahan',
      priority: 'Prioritas',
      focus: 'Fokus',
      leftOut: 'Tidak termasuk',
      missing: 'Tidak ada di dokumen',
    },
    inOrder: 'sesuai urutan di atas',
    otherContents: 'isi dokumen yang lain',
    added: (what) => `menambahkan "${what}"`,
    dropped: (what) => `menghapus "${what}"`,
    focused: (what) => `mendahulukan "${what}"`,
    limited: (what) => `membatasi pada "${what}"`,
    noSource: (what) => `mengeluarkan "${what}" dari sumber`,
    kept: (what) => `mempertahankan "${what}"`,
    alreadyThere: (what) => `"${what}" sudah ada di rencana`,
    notThere: (what) => `rencana tidak memuat "${what}"`,
    askWhat: (query, documents, examples) =>
      `Saya memahami bahwa Anda ingin tahu: ${query}\n\nTidak satu pun dari ${documents} dokumen lokal cocok dengan itu, jadi rencana tidak akan menemukan apa-apa di dalamnya.${examples && ` Dokumen membahas hal seperti ${examples}.`}\n\n1. Topik apa yang perlu menjadi fokus riset?\n2. Adakah yang tidak perlu dibahas?\n\nJawaban Anda menjadi rencana, yang menyebutkan hal yang tidak ada di dokumen.`,
    askChange:
      'Rencana saya biarkan, karena saya tidak melihat apa yang perlu diubah. Bidang mana yang perlu ditambahkan, dihapus, atau didahulukan?',
    askRest:
      'Dengan begitu rencana menjadi kosong, jadi saya biarkan. Apa yang perlu dibahas sebagai gantinya?',
    approvalIsYours:
      'Pesan tidak memulai riset. Jika rencana sudah tepat, setujui; jika belum, sebutkan yang perlu ditambahkan, dihapus, atau didahulukan.',
    stated: 'Bidang yang Anda minta; mungkin tidak ada di dokumen lokal:',
    summary: 'Ringkasan',
    sectionNothing: 'Dokumen lokal tidak menyebutkan hal ini.',
    sectionAbove: 'Yang disebutkan dokumen lokal tentang hal ini sudah dikutip di bagian-bagian di atas.',
    reportNothing: 'Dokumen lokal tidak menyebutkan satu pun bidang dari rencana.',
    reportNote:
      'Dibuat tanpa model bahasa: setiap kalimat dikutip apa adanya dari bagian bernomor yang dirujuk.',
    answerIntro: 'Dari dokumen lokal:',
    answerNothing: (documents) =>
      `Saya tidak punya dokumen tentang itu: tidak satu pun dari ${documents} dokumen lokal cocok, dan tidak ada model bahasa yang disiapkan.`,
  },
};

const LABEL_OF = new Map(
  Object.values(PHRASES).flatMap(({ labels }) =>
    Object.entries(labels).map(([label, text]) => [text.toLowerCase(), label as Label] as const),
  ),
);
const LABEL_LINE = /^\s*(?:\*\*)?([^:：*]{2,30})(?:\*\*)?\s*[:：](?:\*\*)?\s*(.*)$/u;

/** Label and content of a plan's line such as `Left out: prices`, in any of the languages. */
export function labelled(line: string): { label: Label; content: string } | undefined {
  const [, name, content] = LABEL_LINE.exec(line) ?? [];
  const label = LABEL_OF.get(name?.trim().toLowerCase() ?? '');
  return label && { label, content: content ?? '' };
}

/** A labelled line as the plan writes it. */
export function labelLine(phrases: Phrases, label: Label, content: string): string {
  return `**${phrases.labels[label]}:** ${content}`;
}

const SOURCES_TAIL = new RegExp(
  `\\s+—\\s+(?:${Object.values(PHRASES)
    .map(({ sources }) => sources)
    .join('|')})[:：]\\s*(.*)$`,
  'u',
);
const NOTHING_TAIL = new RegExp(
  `\\s+—\\s+(?:${Object.values(PHRASES)
    .map(({ nothing }) => nothing)
    .join('|')})\\s*$`,
  'u',
);

const SILENT_TAIL = new RegExp(
  `^(?:${Object.values(PHRASES)
    .map(({ silent }) => silent(''))
    .join('|')})`,
  'u',
);

/** An area of a plan without the offline provider's own remarks, and the documents that they name. */
export function areaOf(text: string): { head: string; documents: string[]; silent: string[]; own: boolean } {
  const [found = '', ...remarks] = (SOURCES_TAIL.exec(text)?.[1] ?? '').split('; ');
  const silent = remarks.filter((remark) => SILENT_TAIL.test(remark)).at(-1);
  const head = text.replace(SOURCES_TAIL, '').replace(NOTHING_TAIL, '');
  return {
    head,
    documents: listed(found),
    silent: listed(silent?.replace(SILENT_TAIL, '') ?? ''),
    own: head !== text,
  };
}

function listed(names: string): string[] {
  return names.split(', ').filter((name) => name !== '');
}
