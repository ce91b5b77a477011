import { Sha256 } from '@plangate/contracts';
import { readStored } from '@plangate/redis';
import { z } from 'zod';

/** The request is being worked on, by the one whose token this is. */
const Running = z.object({ kind: z.literal('running'), token: z.string(), body_sha256: Sha256 });

const Finished = z.object({
  kind: z.literal('finished'),
  body_sha256: Sha256,
  reply: z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.unknown() }),
  /** Where the answer depends on what becomes of a decision: its id. */
  decision_id: z.string().optional(),
});
/** What a request with an Idempotency-Key has done: a 2xx. */
export type Finished = z.infer<typeof Finished>;

const IdempotencyState = z.discriminatedUnion('kind', [Running, Finished]);
/** What stands under an Idempotency-Key. */
export type IdempotencyState = z.infer<typeof IdempotencyState>;

/** @throws {UnreadableStateError} */
export function readIdempotencyState(key: string, text: string): IdempotencyState {
  return readStored(key, () => IdempotencyState.parse(JSON.parse(text)));
}

const Reservation = z.object({ body_sha256: Sha256, name: z.string() });
/** A name that the attempts of one request share. */
export type Reservation = z.infer<typeof Reservation>;

/** @throws {UnreadableStateError} */
export function readReservation(key: string, text: string): Reservation {
  return readStored(key, () => Reservation.parse(JSON.parse(text)));
}
