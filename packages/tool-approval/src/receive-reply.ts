import type { JsonObject, ToolCall, ToolMessage } from '@plangate/contracts';
import { cleanText } from '@plangate/contracts/text';
import { IllegalStepError, ModelReplyError } from './errors.ts';
import { readArguments } from './json-args.ts';
import { buildReviewRequest } from './payload.ts';
import type { CallRecord, ModelMessage, PendingReview, ThreadState } from './state/thread-state.ts';
import { invalidArgumentsText, STEP_LIMIT_MESSAGE } from './texts.ts';

/** What a model answers: text, or calls of tools, or both. */
export interface ModelReply {
  /** Text, or parts of which those of type `text` count. */
  content?: string | readonly { type: string; text?: string }[] | null;
  tool_calls?: readonly ModelCall[] | null;
  /** Handed back with the message in later requests; see `ModelMessage`. */
  raw?: JsonObject | null;
}

export interface ModelCall {
  /** Replaced where it is missing or taken in the thread. */
  id?: string | null;
  name: string;
  /** An object, or the JSON text of one. */
  args: unknown;
}

export interface Gate {
  /** True for a tool whose calls wait for a person. */
  isGated(tool: string): boolean;
  /** Ids of reviews, and of calls that have none: unique in the thread. */
  newId(): string;
}

/** Steps that a wish for tools costs at most: review, tools, and the model that reads the results. */
const STEPS_OF_A_CALL = 3;

/**
 * Takes the model's reply. Calls get ids that are unique in the thread; arguments become plain JSON, and a call
 * whose arguments are none has its error result at once; gated calls open a review. Where the steps that are left
 * would not do for the calls, the message becomes `STEP_LIMIT_MESSAGE` and the turn is over.
 * @throws {ModelReplyError} where the reply is none; the state stays as it was
 */
export function receiveReply(state: ThreadState, reply: ModelReply, gate: Gate): ThreadState {
  if (state.phase !== 'model') throw new IllegalStepError(`no reply is awaited in phase ${state.phase}`);
  const content = cleanText(textOf(reply));
  const wanted = wantedCalls(reply);
  if (wanted.length === 0) return ended(state, content, rawOf(reply));
  if (state.limit - state.step <= STEPS_OF_A_CALL) return ended(state, STEP_LIMIT_MESSAGE, undefined);

  const arrived = arrive(state, wanted, gate);
  const message: ModelMessage = { role: 'assistant', content, tool_calls: arrived.calls };
  const raw = rawOf(reply);
  if (raw && !arrived.changed) message.raw = raw;
  const records = arrived.calls.map((call): CallRecord => {
    const gated = gate.isGated(call.name);
    return { gated, decision: null, progress: call.invalid_args === undefined ? 'open' : 'done' };
  });
  const next = {
    ...state,
    messages: [...state.messages, message, ...arrived.results],
    calls: records,
    // The review is a step also where it has nothing to ask.
    step: state.step + 1,
  };
  const review = reviewOf(arrived.calls, records, gate);
  if (review) return { ...next, phase: 'review', review };
  const runs = records.some(({ progress }) => progress === 'open');
  return { ...next, phase: runs ? 'tools' : 'model', step: next.step + 1 };
}

function ended(state: ThreadState, content: string, raw: JsonObject | undefined): ThreadState {
  const message: ModelMessage = { role: 'assistant', content, tool_calls: [] };
  if (raw) message.raw = raw;
  return { ...state, messages: [...state.messages, message], phase: 'idle', calls: [], step: state.step + 1 };
}

function reviewOf(calls: ToolCall[], records: CallRecord[], gate: Gate): PendingReview | null {
  const places = records.flatMap(({ gated, progress }, i) => (gated && progress === 'open' ? [i] : []));
  if (places.length === 0) return null;
  const shown = calls.filter((_, i) => places.includes(i));
  return { id: gate.newId(), calls: places, request: buildReviewRequest(shown) };
}

/** `changed`: something differs from what the model wrote, so that a raw copy would contradict the message. */
function arrive(state: ThreadState, wanted: readonly ModelCall[], gate: Gate) {
  const taken = new Set(
    state.messages.flatMap((m) => (m.role === 'assistant' ? m.tool_calls.map(({ id }) => id) : [])),
  );
  const calls: ToolCall[] = [];
  const results: ToolMessage[] = [];
  let changed = false;
  for (const { id: proposed, name, args } of wanted) {
    const id =
      typeof proposed === 'string' && proposed !== '' && !taken.has(proposed)
        ? proposed
        : freeId(taken, gate);
    taken.add(id);
    const read = readArguments(args);
    changed ||= id !== proposed || !read.ok;
    if (read.ok) {
      calls.push({ id, name, args: read.args });
      continue;
    }
    calls.push({ id, name, args: {}, invalid_args: read.raw });
    const content = invalidArgumentsText(name, [{ path: 'args', problem: read.problem }]);
    results.push({ role: 'tool', content, name, tool_call_id: id, status: 'error' });
  }
  return { calls, results, changed };
}

function freeId(taken: ReadonlySet<string>, gate: Gate): string {
  const id = `call_${gate.newId()}`;
  if (taken.has(id)) throw new IllegalStepError(`the id ${id} was given twice`);
  return id;
}

function wantedCalls(reply: ModelReply): readonly ModelCall[] {
  const calls: unknown = reply.tool_calls ?? [];
  if (!Array.isArray(calls)) throw new ModelReplyError('tool_calls of a reply is a list');
  for (const call of calls as unknown[]) {
    if (typeof (call as ModelCall | null)?.name !== 'string') {
      throw new ModelReplyError('a tool call of a reply has a name');
    }
  }
  return calls as ModelCall[];
}

function textOf(reply: unknown): string {
  if (typeof reply !== 'object' || reply === null) throw new ModelReplyError('a reply is an object');
  const { content } = reply as ModelReply;
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new ModelReplyError('content of a reply is text or a list of parts');
  const texts = (content as { type?: unknown; text?: unknown }[]).map((part) =>
    part?.type === 'text' && typeof part.text === 'string' ? part.text : '',
  );
  return texts.join('');
}

function rawOf(reply: ModelReply): JsonObject | undefined {
  if (reply.raw === undefined || reply.raw === null) return undefined;
  const read = readArguments(reply.raw);
  if (!read.ok) throw new ModelReplyError('raw of a reply is a JSON object');
  return read.args;
}
