import type { Change } from './change.ts';

/** A noun that acts as a verb only where a verb ending or the end of the order follows. */
const ACTED = String.raw`(?=し|す|せ|を?(?:お願い|願い)|で[、。]|[、。！!\s]|$)`;

/** Verbs of each change, the more specific first. */
const VERBS: [Change['kind'], string][] = [
  [
    'keep',
    `(?:削除|除外|省略)(?:し|は)な[いく]|(?:消さ|外さ|除か|省か)な[いく]|残し|残す|維持${ACTED}|保持${ACTED}|そのまま`,
  ],
  [
    'drop',
    `(?:含め|入れ|書か|扱わ|触れ|取り上げ|調べ|加え|(?:比較|追加|分析|説明|言及)し)な[いく]|削除${ACTED}|除外${ACTED}|省略${ACTED}|カット${ACTED}|除い|除き|外し|外す|省い|省く|消し|消す|やめ|止め|飛ばし|不要|いらな[いく]|要らな[いく]|必要(?:は|が)?な[いく]|必要(?:は|が)?ありません|なしで|抜きで|抜き`,
  ],
  ['only', `(?:だけ|のみ)(?:に|を|で)?(?:絞|限|対象|し|扱|調べ|見)|絞|限定${ACTED}|限っ`],
  [
    'focus',
    `集中${ACTED}|焦点を(?:当|あ|置|絞)|重点を(?:置|お)|重点的に|注力${ACTED}|フォーカス${ACTED}|中心に|優先(?:的に)?${ACTED}|優先的に|重視${ACTED}|詳しく|深く|掘り下げ|メインに`,
  ],
  [
    'add',
    `追加${ACTED}|加え|含め|入れ|足し|盛り込|取り上げ|取り入れ|調べ|触れ|言及${ACTED}|カバー${ACTED}|検討${ACTED}|(?:比較|分析|説明)${ACTED}`,
  ],
];
const ORDER = new RegExp(
  String.raw`([^。！？!?\n]*?)(?:${VERBS.map(([, verb]) => `(${verb})`).join('|')})[ぁ-ん]*(?:下さい|願います|願いします|致します|欲しい(?:です)?)?[、，。！!.]*`,
  'gu',
);

/** The whole message is what the plan is to be kept to: `redlockだけで`. */
const ONLY = /^(.{1,60}?)(?:だけ|のみ)(?:で|に|を)?(?:お願いします|いいです|十分です)?[。.!！]*$/u;

/** The changes that a Japanese message asks for. */
export function changesInJapanese(text: string): Change[] {
  const orders = Array.from(text.replace(/[ \t\u3000]+/g, ' ').matchAll(ORDER));
  const changes: Change[] = [];
  for (const order of orders) {
    const at = order.slice(2).findIndex((group) => group !== undefined);
    const kind = VERBS[at]?.[0] ?? 'add';
    const what = subject(order[1] ?? '');
    const compared = /^比較/u.test(order[at + 2] ?? '') && kind === 'add';
    if (what !== '') changes.push({ kind, what: compared ? `${what}の比較` : what });
  }
  const only = changes.length === 0 ? ONLY.exec(text)?.[1] : undefined;
  return only === undefined ? changes : [{ kind: 'only', what: subject(only) }];
}

const LEADING =
  /^(?:[、，,。\s]|また|さらに|そして|もっと|それと|あと|ただし|次に|まず|できれば|もう少し|より(?=[^り]))+/u;
const PARTICLES =
  /(?:を|に|へ|は|も|が|の|と|で|だけ|のみ|により|より|もっと|特に|について|に関して|に関する(?:内容|部分|項目)?|の?(?:項目|部分|内容|章|節|セクション)|[、，,\s])+$/u;

function subject(text: string): string {
  return text.replace(LEADING, '').replace(PARTICLES, '');
}
