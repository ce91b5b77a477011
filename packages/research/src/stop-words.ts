/** Words that every text has, in the form that `words` gives them: English, Japanese, Chinese, Indonesian. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a about after again all also am an and any are at be because been before being between both but by can could',
    'did do doe doing each few for from further get give had ha have having he her here him his how i if in into is it',
    'its itself just let may me might more most must my no nor not now of off on once only or other our out over own',
    'per please same shall she should so some such than that the their them then there these they this those through',
    'to too under until up upon use used using very via wa was we were what when where which while who whom whose why',
    'will with would you your',
    'の は が を に へ と で も や か から まで より など た だ て し する した して です ます ある いる こと もの これ それ この その ため ください について',
    '的 该 該 了 和 与 與 在 是 对 對 为 為 及 或 也 就 都 而 被 把 从 從 到 等 这 這 那 其 之 以 于 於 有 个 個 请 請 一个 我们 你 我 他 吗 呢 什么',
    'yang dan di ke dari untuk dengan pada adalah ini itu atau juga dalam oleh akan sebagai tidak bisa dapat saya kami apa bagaimana tentang',
  ].flatMap((line) => line.split(' ')),
);
