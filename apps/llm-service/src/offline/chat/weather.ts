import type { Rule } from './rule.ts';

const START =
  /\b(?:(?:what(?:'s|’s| is)|how(?:'s|’s| is)|tell me|check|get|show(?: me)?)\s+(?:the\s+)?weather|weather|(?:bagaimana(?:kah)?|apa|seperti apa|cek)\s+cuaca|cuaca)(?:nya)?(?:\s+(?:like|today|now|right now|forecast|hari ini|sekarang))*\s+(?:(?:in|for|at|of|di|untuk|kota)\s+)?(?=\p{L})/giu;
/** Words after a place that are no part of it. */
const WHEN =
  /\s+(?:today|tonight|now|right now|tomorrow|this\s+\w+|please|like|hari ini|sekarang|besok|nanti|saat ini|bagaimana|gimana)\b.*$/iu;
const END = /[.?!;:\n].*$/su;
const BETWEEN = /\s*,\s*|\s+(?:and|dan|serta|&)\s+(?:in\s+|di\s+)?/iu;

/** `what is the weather in Jakarta`, `bagaimana cuaca di Bandung`; several places are several calls. */
export const weatherRule: Rule = {
  start: START,
  read(_start, said) {
    const places = said
      .replace(END, '')
      .split(BETWEEN)
      .map((place) => place.replace(WHEN, '').trim())
      .filter((place) => place !== '');
    if (places.length === 0) return [{ tool: 'get_weather', fields: ['location'] }];
    return places.map((location) => ({ name: 'get_weather', args: { location } }));
  },
};
