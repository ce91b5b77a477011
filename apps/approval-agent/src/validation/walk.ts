import { type BodyFault, codePoints } from '@plangate/contracts';
import { isExactNumber } from '@plangate/tool-approval';

export type Path = (string | number)[];
export type Fields = Record<string, unknown>;

/** Collects what is wrong with a body, in the order of its fields; the texts are those of `contract/tool-approval.md §1`. */
export class BodyWalk {
  readonly faults: BodyFault[] = [];

  /** The value as an object; null, with a fault, for anything else. */
  object(value: unknown, loc: Path): Fields | null {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
    this.#add(
      'model_attributes_type',
      loc,
      'Input should be a valid dictionary or object to extract fields from',
      value,
    );
    return null;
  }

  /** A field as text. `required`: it must be there, and null is no text. */
  text(
    fields: Fields,
    name: string,
    at: Path,
    rules: { required: boolean; min?: number; max?: number },
  ): string | null {
    const value = this.#field(fields, name, at, rules.required);
    if (value === ABSENT) return null;
    const loc = [...at, name];
    if (typeof value !== 'string') {
      this.#add('string_type', loc, 'Input should be a valid string', value);
      return null;
    }
    const { min = 0, max = Number.POSITIVE_INFINITY } = rules;
    const length = codePoints(value);
    if (length < min) {
      const msg = `String should have at least ${min} character${min === 1 ? '' : 's'}`;
      this.#add('string_too_short', loc, msg, value, { min_length: min });
    } else if (length > max) {
      this.#add('string_too_long', loc, `String should have at most ${max} characters`, value, {
        max_length: max,
      });
    }
    return value;
  }

  /** A required field as a list of at least one item. */
  list(fields: Fields, name: string, at: Path): unknown[] {
    const value = this.#field(fields, name, at, true);
    if (value === ABSENT) return [];
    const loc = [...at, name];
    if (!Array.isArray(value)) {
      this.#add('list_type', loc, 'Input should be a valid list', value);
      return [];
    }
    if (value.length === 0) {
      this.#add('too_short', loc, 'List should have at least 1 item after validation, not 0', value, {
        field_type: 'List',
        min_length: 1,
        actual_length: 0,
      });
    }
    return value;
  }

  /** A required field that is one of the given words. */
  word(fields: Fields, name: string, at: Path, words: readonly string[]): void {
    const value = this.#field(fields, name, at, true);
    if (value === ABSENT || (typeof value === 'string' && words.includes(value))) return;
    const quoted = words.map((word) => `'${word}'`);
    const expected = [quoted.slice(0, -1).join(', '), quoted.at(-1)].join(' or ');
    this.#add('literal_error', [...at, name], `Input should be ${expected}`, value, { expected });
  }

  /** A required field that is an object of any content. */
  dictionary(fields: Fields, name: string, at: Path): void {
    const value = this.#field(fields, name, at, true);
    if (value === ABSENT) return;
    const loc = [...at, name];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) this.#exact(value, loc);
    else this.#add('dict_type', loc, 'Input should be a valid dictionary', value);
  }

  /** JSON can write numbers that nothing here can hold; they would be handed on as others, or as null. */
  #exact(value: unknown, loc: Path): void {
    if (typeof value === 'number' && !isExactNumber(value)) {
      if (Number.isFinite(value)) this.#add('int_parsing_size', loc, UNSAFE_INTEGER, value);
      else this.#add('finite_number', loc, 'Input should be a finite number', null);
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      this.#exact(member, [...loc, Array.isArray(value) ? Number(name) : name]);
    }
  }

  /** `ABSENT` where there is nothing to look at: not there, or null where it may be. */
  #field(fields: Fields, name: string, at: Path, required: boolean): unknown {
    if (!Object.hasOwn(fields, name)) {
      if (required) this.#add('missing', [...at, name], 'Field required', fields);
      return ABSENT;
    }
    return fields[name] === null && !required ? ABSENT : fields[name];
  }

  #add(type: string, loc: Path, msg: string, input: unknown, ctx?: Record<string, unknown>): void {
    this.faults.push({ type, loc, msg, input, ...(ctx ? { ctx } : {}) });
  }
}

const UNSAFE_INTEGER = 'Input should be an integer of at most 2^53 - 1; write a longer one as a string';
const ABSENT = Symbol('absent');
