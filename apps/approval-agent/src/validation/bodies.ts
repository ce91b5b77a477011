import { ALLOWED_DECISIONS } from '@plangate/tool-approval';
import { DetailError } from '../errors.ts';
import { BodyWalk, type Fields, type Path } from './walk.ts';

/** Longest `thread_id` in characters. */
const THREAD_ID_LIMIT = 256;
const BODY: Path = ['body'];

export interface ChatBody {
  message: string;
  /** Null: a new thread. */
  threadId: string | null;
}

export interface ReviewBody {
  threadId: string;
  decisions: unknown[];
  /** The review that the caller means, where it says so. */
  reviewId: string | null;
}

/** @throws {DetailError} 422 with every fault of the body */
export function readChatBody(body: unknown): ChatBody {
  return read(body, (walk, fields) => ({
    message: walk.text(fields, 'message', BODY, { required: true, min: 1 }) ?? '',
    threadId: walk.text(fields, 'thread_id', BODY, { required: false, max: THREAD_ID_LIMIT }) || null,
  }));
}

/** @throws {DetailError} 422 with every fault of the body */
export function readReviewBody(body: unknown): ReviewBody {
  return read(body, (walk, fields) => {
    const threadId = walk.text(fields, 'thread_id', BODY, { required: true, max: THREAD_ID_LIMIT }) ?? '';
    const decisions = walk.list(fields, 'decisions', BODY);
    for (const [index, decision] of decisions.entries()) {
      walkDecision(walk, decision, [...BODY, 'decisions', index]);
    }
    const reviewId = walk.text(fields, 'review_id', BODY, { required: false });
    return { threadId, decisions, reviewId };
  });
}

function read<T>(body: unknown, of: (walk: BodyWalk, fields: Fields) => T): T {
  const walk = new BodyWalk();
  if (body === undefined) {
    throw new DetailError(422, [{ type: 'missing', loc: BODY, msg: 'Field required', input: null }]);
  }
  const fields = walk.object(body, BODY);
  if (!fields) throw new DetailError(422, walk.faults);
  const value = of(walk, fields);
  if (walk.faults.length > 0) throw new DetailError(422, walk.faults);
  return value;
}

function walkDecision(walk: BodyWalk, value: unknown, at: Path): void {
  const decision = walk.object(value, at);
  if (!decision) return;
  walk.word(decision, 'type', at, ALLOWED_DECISIONS);
  const edited = Object.hasOwn(decision, 'edited_action') ? decision['edited_action'] : null;
  if (edited !== null) {
    const loc = [...at, 'edited_action'];
    const action = walk.object(edited, loc);
    if (action) {
      walk.text(action, 'name', loc, { required: true });
      walk.dictionary(action, 'args', loc);
    }
  }
  walk.text(decision, 'message', at, { required: false });
}
