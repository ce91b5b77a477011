/** How a review lies in its hash: the state, and beside it what is read without parsing it. */
import type { Owner } from '@plangate/contracts';
import { readStored, UnreadableStateError } from '@plangate/redis';
import { publicBody, ReviewState, STATE_FORMAT } from '../state.ts';

/** The hot read: the body as it was serialised by the commit, and what its route checks. */
export interface StoredBody {
  body: string;
  version: number;
  owner: Owner | null;
}

/** What the hot read reads, in the order of {@link readBodyFields}. */
export const BODY_FIELDS = ['body', 'body_length', 'version', 'format', 'user', 'tenant'] as const;

/** Names and values of a state's fields, in turn. */
export function fieldsOf(state: ReviewState): (string | number)[] {
  const body = JSON.stringify(publicBody(state));
  const fields: Record<string, string | number> = {
    format: state.format,
    version: state.version,
    state: JSON.stringify(state),
    body,
    // The hot read parses nothing: this tells it that the body is whole.
    body_length: body.length,
    status: state.status,
    expires_ms: Date.parse(state.expires_at),
    user: state.owner?.user ?? '',
    tenant: state.owner?.tenant ?? '',
  };
  return Object.entries(fields).flat();
}

/**
 * The hot read from the values of {@link BODY_FIELDS}; null where there is no review. It vouches for the body only:
 * both were written by one script, so a body that is whole shows what was true at its version, also where `state`
 * was spoilt since and every change is refused.
 */
export function readBodyFields(key: string, fields: (string | null)[]): StoredBody | null {
  if (fields.every((value) => value === null)) return null;
  const [body, length, version, format, user, tenant] = fields;
  if (format !== String(STATE_FORMAT)) throw otherFormat(key, format);
  if (!body || String(body.length) !== length || !/^[1-9]\d*$/.test(version ?? '')) {
    throw new UnreadableStateError(key, 'the body is not whole');
  }
  return { body, version: Number(version), owner: user && tenant ? { user, tenant } : null };
}

/** The state from its fields as stored. */
export function readState(
  key: string,
  { state, version, format }: Record<'state' | 'version' | 'format', string | null>,
): ReviewState {
  if (format !== String(STATE_FORMAT)) throw otherFormat(key, format);
  const read = readStored(key, () => ReviewState.parse(JSON.parse(state ?? '')));
  if (String(read.version) !== version) throw new UnreadableStateError(key, 'its versions differ');
  return read;
}

function otherFormat(key: string, format: string | null | undefined): UnreadableStateError {
  return new UnreadableStateError(key, `its format is ${format ?? 'missing'}, this is ${STATE_FORMAT}`);
}
