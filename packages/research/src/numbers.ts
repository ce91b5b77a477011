const NUMBER = /\d+(?:[.,]\d+)*/g;
const UNIT =
  /^\s?(%|percent|ms|milliseconds?|s|sec|seconds?|秒|min|minutes?|分|h|hours?|時間|小时|days?|日|天|kb|kib|mb|mib|gb|gib)(?![\p{L}\p{N}])/iu;
const HAN_NUMBER = /([〇一二三四五六七八九十百千]+)(?=[秒分時时日天月年回件個个人倍種种次条項项歳页つ])/g;
const HAN_DIGITS = '〇一二三四五六七八九';
const HAN_POWERS: Record<string, number> = { 十: 10, 百: 100, 千: 1000 };
const NAMES = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const NAMED = new RegExp(`\\b(?:${NAMES.join('|')})\\b`, 'gi');
const UNITS: Record<string, string> = {
  percent: '%',
  millisecond: 'ms',
  sec: 's',
  second: 's',
  秒: 's',
  minute: 'min',
  分: 'min',
  hour: 'h',
  時間: 'h',
  小时: 'h',
  day: 'd',
  日: 'd',
  天: 'd',
  kib: 'kb',
  mib: 'mb',
  gib: 'gb',
};

/** The numbers of a text with the units found behind each (`""` for none); `1,000`, `１０００` and `1000` are one. */
export function numbersOf(text: string): Map<string, Set<string>> {
  const normal = text.normalize('NFKC');
  const found = new Map<string, Set<string>>();
  const add = (value: string, end: number) => {
    const units = found.get(value) ?? new Set<string>();
    found.set(value, units.add(unitAt(normal, end)));
  };
  for (const { 0: digits, index } of normal.matchAll(NUMBER)) {
    const value = digits.replace(/,(?=\d{3}(?:\D|$))/g, '').replace(/^0+(?=\d)/, '');
    add(value, index + digits.length);
  }
  for (const { 0: name, index } of normal.matchAll(NAMED)) {
    add(String(NAMES.indexOf(name.toLowerCase()) + 2), index + name.length);
  }
  // A single 一 is an article as often as a number, like `one`.
  for (const { 0: han, index } of normal.matchAll(HAN_NUMBER)) {
    if (han !== '一') add(String(hanValue(han)), index + han.length);
  }
  return found;
}

/** True when each number of the claim stands in the source too, not with another unit. */
export function numbersAgree(
  claim: ReadonlyMap<string, ReadonlySet<string>>,
  source: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  for (const [value, units] of claim) {
    const known = source.get(value);
    if (!known) return false;
    for (const unit of units) if (unit !== '' && !known.has(unit) && !known.has('')) return false;
  }
  return true;
}

function unitAt(text: string, at: number): string {
  const unit = UNIT.exec(text.slice(at, at + 16))?.[1]?.toLowerCase();
  if (!unit) return '';
  return UNITS[unit] ?? UNITS[unit.replace(/s$/, '')] ?? unit;
}

function hanValue(han: string): number {
  let total = 0;
  let digit = 0;
  for (const sign of han) {
    const power = HAN_POWERS[sign];
    if (power === undefined) digit = digit * 10 + HAN_DIGITS.indexOf(sign);
    else {
      total += (digit || 1) * power;
      digit = 0;
    }
  }
  return total + digit;
}
