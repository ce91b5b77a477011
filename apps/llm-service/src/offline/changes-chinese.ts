import type { Change } from './change.ts';

const LEAD = '^(?:请|請|麻烦|再|也|还|還|并且|并|然后|同时|另外|希望|我想|我要|能否|可以|应该|最好|你|要)*';
const DROP = '删除|刪除|删掉|删去|去掉|去除|移除|排除|忽略|省略|跳过|剔除';
const TALK = '写|寫|包括|包含|讨论|討論|涉及|分析|提到|提及|提|研究|谈|介绍|加入|加|考虑|比较|调查';
const ADD =
  '加入|加上|加进|增加|添加|补充|補充|包括|包含|纳入|新增|追加|加|讨论|討論|研究|分析|介绍|探讨|考虑|涵盖|覆盖';

/** One order per clause; the first that fits counts. */
const ORDERS: [Change['kind'], RegExp][] = [
  ['keep', new RegExp(`${LEAD}(?:不要|别|不能|勿)(?:${DROP}|删)(.+)$`, 'u')],
  ['keep', new RegExp(`${LEAD}(?:保留|保持|留下)(.+?)(?:不变)?$`, 'u')],
  ['drop', new RegExp(`${LEAD}(?:不要|别|不必|无需|无须|不用|不需要|勿)(?:再)?(?:${TALK})?(.+)$`, 'u')],
  ['drop', new RegExp(`${LEAD}(?:把|将)(.+?)(?:${DROP}|删|拿掉)`, 'u')],
  ['drop', new RegExp(`${LEAD}(?:${DROP})(.+)$`, 'u')],
  ['drop', new RegExp(`^(.+?)(?:可以|就|都)?(?:不要|不需要|不用|不必)(?:${TALK})?(?:了)?$`, 'u')],
  ['drop', new RegExp(`^(.+?)(?:可以|就)?(?:${DROP})(?:了|吧)?$`, 'u')],
  [
    'only',
    new RegExp(
      `${LEAD}(?:只看|只要|只关注|只研究|只讨论|只写|只分析|仅限于|仅限|限于|限定在|局限于|只|仅)(.+?)(?:就好|即可|就行|就够了)?$`,
      'u',
    ),
  ],
  ['only', /^(.+?)(?:就好|即可|就行|就够了)$/u],
  [
    'focus',
    new RegExp(
      `${LEAD}(?:把|将)?(?:更多|主要)?(?:重点|焦点|注意力)(?:放在|集中在|是|在于)(.+?)(?:上|方面)?$`,
      'u',
    ),
  ],
  [
    'focus',
    new RegExp(
      `${LEAD}(?:更|更多|更加|多|优先|重点|主要|集中|着重)?(?:聚焦|专注|關注|关注|侧重|集中|优先|突出|深入|着重|重点)(?:于|在|到|考虑|看|研究|分析|讨论|介绍|处理)?(.+?)(?:上|方面)?$`,
      'u',
    ),
  ],
  ['add', new RegExp(`${LEAD}(?:把|将)(.+?)(?:加入|加进去|加进来|加上|纳入|包括进来|补充进去)`, 'u')],
  ['add', new RegExp(`${LEAD}(?:${ADD})(?:一下|一个|一些|关于|对)?(.+)$`, 'u')],
  ['add', new RegExp(`${LEAD}((?:比较|对比|對比)(?:一下)?.+)$`, 'u')],
  ['add', /^(.+?)也?(?:要|需要)?(?:加入|加上|加进去|补充|追加)$/u],
];

/** The changes that a Chinese message asks for. */
export function changesInChinese(text: string): Change[] {
  return text
    .split(/[，。；！？,;!?\n]|(?:但是|但|而且|然后|并且)/u)
    .map((clause) => clause.trim())
    .flatMap((clause) => {
      for (const [kind, pattern] of ORDERS) {
        const what = pattern.exec(clause)?.[1];
        if (what) return [{ kind, what: subject(what) }];
      }
      return [];
    });
}

function subject(text: string): string {
  return text
    .trim()
    .replace(/^(?:一个|一些|一下|关于|有关|对|更多的?|更多)+/u, '')
    .replace(/(?:的?(?:部分|方面|章节|内容|一节|小节|话题)|进去|进来|一下|吧|了|呢)+$/u, '');
}
