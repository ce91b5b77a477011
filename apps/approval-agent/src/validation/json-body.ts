import type { IncomingMessage } from 'node:http';
import { isTooDeep, JSON_DEPTH_LIMIT } from '@plangate/contracts';
import { BODY_LIMIT_BYTES, isJsonType, readBody } from '@plangate/http';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { DetailError } from '../errors.ts';

/**
 * The body as JSON, with every member as it was sent: one named `__proto__` is an own one. Of a repeated member the
 * last one counts. No body at all is undefined.
 * @throws {DetailError} 422 `json_invalid` with the place of the fault, 415 another type; {@link readBody}'s errors
 */
export async function readJson(req: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(req, { limitBytes: BODY_LIMIT_BYTES });
  if (bytes.length === 0) return undefined;
  const type = req.headers['content-type'];
  if (type !== undefined && !isJsonType(type)) {
    throw new DetailError(415, 'Content-Type must be application/json');
  }
  const text = decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson(...faultOf(text));
  }
  if (isTooDeep(value)) throw invalidJson(0, `Nested deeper than ${JSON_DEPTH_LIMIT} levels`);
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidJson(0, 'Not UTF-8');
  }
}

function invalidJson(position: number, reason: string): DetailError {
  const fault = {
    type: 'json_invalid',
    loc: ['body', position],
    msg: 'JSON decode error',
    input: {},
    ctx: { error: reason },
  };
  return new DetailError(422, [fault]);
}

const REASONS: Record<string, string> = {
  InvalidNumberFormat: 'Expecting a number',
  PropertyNameExpected: 'Expecting property name enclosed in double quotes',
  ValueExpected: 'Expecting value',
  ColonExpected: "Expecting ':' delimiter",
  CommaExpected: "Expecting ',' delimiter",
  CloseBraceExpected: "Expecting ',' delimiter or '}'",
  CloseBracketExpected: "Expecting ',' delimiter or ']'",
  EndOfFileExpected: 'Extra data',
  InvalidCommentToken: 'Expecting value',
  UnexpectedEndOfString: 'Unterminated string',
  InvalidUnicode: 'Invalid \\escape',
  InvalidEscapeCharacter: 'Invalid \\escape',
  InvalidCharacter: 'Invalid control character',
};

/** Where the text stops being JSON, and why; `JSON.parse` does not always say where. */
function faultOf(text: string): [position: number, reason: string] {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const [first] = errors;
  return first
    ? [first.offset, REASONS[printParseErrorCode(first.error)] ?? 'Expecting value']
    : [0, 'Expecting value'];
}
