import type { ToolSchema } from '@plangate/contracts';
import type { Rule } from './rule.ts';

/** Any tool, called by its name or the words of its name, with its fields by their names: `create_ticket title "Leak"`. */
export function namedToolRule(tool: ToolSchema): Rule {
  return {
    start: new RegExp(String.raw`(?<![\p{L}\p{N}_])${nameWords(tool.name)}(?![\p{L}\p{N}_])`, 'giu'),
    read: (_start, said) => [readCall(tool, said.trim())],
  };
}

type Property = { type?: unknown; enum?: unknown; items?: { type?: unknown } };

function readCall(tool: ToolSchema, text: string) {
  const properties = propertiesOf(tool);
  const names = properties.map(([name]) => name);
  const required = Array.isArray(tool.parameters['required']) ? tool.parameters['required'].map(String) : [];
  const args: Record<string, unknown> = {};
  for (const [name, property] of properties) {
    const value = textAfter(name, names, text) ?? (names.length === 1 ? withoutQuotes(text) : undefined);
    const typed = value === undefined || value === '' ? undefined : toType(value, property);
    if (typed !== undefined) args[name] = typed;
  }
  const fields = required.filter((name) => !Object.hasOwn(args, name));
  return fields.length > 0 ? { tool: tool.name, fields } : { name: tool.name, args };
}

/** The text after a field's name, up to the next field or the end; a quoted one whole. */
function textAfter(name: string, names: readonly string[], text: string): string | undefined {
  const others = names.map(nameWords).join('|');
  const pattern = new RegExp(
    String.raw`(?<![\p{L}\p{N}_])${nameWords(name)}(?:\s*[:=]\s*|\s+(?:is|adalah|as|=)?\s*)(?:"([^"]*)"|“([^”]*)”|(.+?))(?=$|[,;]?\s+(?:(?:and|with|dan|dengan)\s+)?(?:${others})(?![\p{L}\p{N}_])|[,;](?:\s|$))`,
    'iu',
  );
  const found = pattern.exec(text);
  return (found?.[1] ?? found?.[2] ?? found?.[3])?.trim();
}

/** A name as it may stand in a sentence: its words with a space, a hyphen or an underscore between. */
function nameWords(name: string): string {
  return name
    .split(/[_-]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('[ _-]');
}

function toType(text: string, { type, enum: members, items }: Property): unknown {
  if (Array.isArray(members)) {
    return members.find((member) => String(member).toLowerCase() === text.toLowerCase());
  }
  if (type === 'integer' || type === 'number') {
    const number = Number(text.replace(/\.$/, ''));
    return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined;
  }
  if (type === 'boolean') return /^(?:true|yes|on|ya|benar)\b/i.test(text);
  if (type === 'array' && (items?.type ?? 'string') === 'string')
    return text.split(/\s*,\s*|\s+(?:and|dan)\s+/);
  return type === 'object' || type === 'array' ? undefined : text;
}

function withoutQuotes(text: string): string {
  return text.replace(/^[:=\s]*["“]?|["”]?$/gu, '').trim();
}

function propertiesOf({ parameters }: ToolSchema): [string, Property][] {
  const properties = parameters['properties'];
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).map(([name, property]) => [
    name,
    typeof property === 'object' && property !== null ? (property as Property) : {},
  ]);
}
