import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { codePoints, type Owner } from '@plangate/contracts';
import { type BodyOptions, readBody } from '../body.ts';
import { HttpError } from '../errors.ts';

const MOST_CHARACTERS = 255;

/** What tells one use of an Idempotency-Key from another. */
export interface KeyedRequest {
  /** SHA-256 over caller, route, id in the path, and key: the name of the record. */
  hash: string;
  /** SHA-256 of the body's raw bytes. */
  bodySha256: string;
}

export interface Scope {
  owner: Owner;
  /** Method and path with names for its parts, such as `POST /api/v1/tasks/{id}/cancel`. */
  route: string;
  /** The part of the path that has a name, `""` where there is none. */
  id?: string;
}

/**
 * The use of an `Idempotency-Key` by this request; null where it sends none (`contract/plan-review.md` §0).
 * @throws {HttpError} 400 for a key that is empty or too long, and what {@link readBody} throws
 */
export async function keyedRequest(
  req: IncomingMessage,
  { owner, route, id = '' }: Scope,
  options: BodyOptions = {},
): Promise<KeyedRequest | null> {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key === '' || charactersOf(key) > MOST_CHARACTERS) {
    throw new HttpError(400, 'invalid_idempotency_key', 'Idempotency-Key must have 1 to 255 characters');
  }
  return {
    hash: sha256(JSON.stringify([owner.tenant, owner.user, route, id, key])),
    bodySha256: sha256(await readBody(req, options)),
  };
}

/**
 * How many characters a field value has. Node hands it over as one code unit per byte, and a byte beyond ASCII says
 * nothing of its encoding (RFC 9110 §5.5): code points where the bytes are UTF-8, else one per byte, as in Latin-1.
 */
function charactersOf(value: string): number {
  try {
    return codePoints(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1')),
    );
  } catch {
    return value.length;
  }
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
