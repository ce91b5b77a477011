import { TOOL_CALLS_LIMIT, type ToolSchema } from '@plangate/contracts';
import { emailRule } from './email.ts';
import { namedToolRule } from './named-tool.ts';
import type { Missing, Rule, WantedCall } from './rule.ts';
import { weatherRule } from './weather.ts';

const CONNECTOR = /^(?:and|then|also|please|plus|dan|lalu|kemudian|serta|juga|tolong)?$/i;

/** The calls that a plain sentence wants, in its order; several wishes may stand in one sentence. */
export function wantedCalls(
  sentence: string,
  tools: readonly ToolSchema[],
): { calls: WantedCall[]; missing: Missing[] } {
  const text = sentence.replace(/\s+/g, ' ');
  const rules = tools.flatMap((tool): Rule[] => [
    ...(isEmailTool(tool) ? [emailRule] : []),
    ...(isWeatherTool(tool) ? [weatherRule] : []),
    namedToolRule(tool),
  ]);
  const read = clauses(text, rules).flatMap(({ rule, start, said }) => rule.read(start, said));
  return {
    calls: read.filter((item) => 'args' in item).slice(0, TOOL_CALLS_LIMIT),
    missing: read.filter((item) => 'fields' in item),
  };
}

/** The parts of the text from the start of one wish to the start of the next. */
function clauses(
  text: string,
  rules: readonly Rule[],
): { rule: Rule; start: RegExpMatchArray; said: string }[] {
  const starts = rules
    .flatMap((rule) =>
      Array.from(text.matchAll(rule.start), (start) => {
        return { rule, start, from: start.index, to: start.index + start[0].length };
      }),
    )
    .sort((a, b) => a.from - b.from || b.to - a.to);
  const chosen: typeof starts = [];
  for (const start of starts) {
    if (start.from >= (chosen.at(-1)?.to ?? 0)) chosen.push(start);
  }
  return chosen.map(({ rule, start, to }, at) => ({
    rule,
    start,
    said: withoutConnectors(text.slice(to, chosen[at + 1]?.from ?? text.length)),
  }));
}

/** Without the words and signs at its end that only lead on to the next wish. */
function withoutConnectors(text: string): string {
  // Words and, at the odd places, what stands between them.
  const parts = text.split(/([\s,.;:!?…]+)/);
  const end = parts.findLastIndex((part, place) => place % 2 === 0 && !CONNECTOR.test(part));
  return parts.slice(0, end + 1).join('');
}

function isEmailTool({ name, parameters }: ToolSchema): boolean {
  return name === 'send_email' && has(parameters, 'to', 'subject', 'body');
}

function isWeatherTool({ name, parameters }: ToolSchema): boolean {
  return name === 'get_weather' && has(parameters, 'location');
}

function has(parameters: ToolSchema['parameters'], ...names: string[]): boolean {
  const properties = parameters['properties'];
  return (
    typeof properties === 'object' &&
    properties !== null &&
    names.every((name) => Object.hasOwn(properties, name))
  );
}
