import {
  ActionRequest,
  AssistantMessage,
  CallArguments,
  DecisionType,
  ReviewConfig,
  ReviewRequest,
  ToolCall,
  ToolMessage,
  UserMessage,
} from '@plangate/contracts';
import { z } from 'zod';
import { contradictionOf } from './contradiction.ts';
import { STATE_VERSION, type ThreadState } from './thread-state.ts';

/** What is kept of a thread is no state that this version of the code can go on with; nothing is written over it. */
export class UnreadableStateError extends Error {
  override readonly name = 'UnreadableStateError';
}

/**
 * Reads a kept state: its version, its shape, and that its parts agree with each other, so that an approval is
 * never applied to something else than what was shown. What does not agree is refused, not mended.
 * @param value the state, or its JSON text
 * @throws {UnreadableStateError}
 */
export function readThreadState(value: unknown): ThreadState {
  const state = Shape.safeParse(typeof value === 'string' ? parsed(value) : value);
  if (!state.success) {
    const { path, message } = state.error.issues[0] ?? { path: [], message: 'no state' };
    throw new UnreadableStateError(`${path.join('.') || 'state'}: ${message}`);
  }
  const contradiction = contradictionOf(state.data);
  if (contradiction !== null) throw new UnreadableStateError(contradiction);
  return state.data;
}

const Messages = z.discriminatedUnion('role', [
  z.strictObject(UserMessage.shape),
  z.strictObject({
    ...AssistantMessage.shape,
    tool_calls: z.array(z.strictObject(ToolCall.shape)),
    raw: CallArguments.optional(),
  }),
  z.strictObject(ToolMessage.shape),
]);

const Records = z.strictObject({
  gated: z.boolean(),
  decision: DecisionType.nullable(),
  progress: z.enum(['open', 'claimed', 'done']),
});

const Review = z.strictObject({
  id: z.string().min(1),
  calls: z.array(z.int().nonnegative()).min(1),
  request: z.strictObject({
    ...ReviewRequest.shape,
    action_requests: z.array(z.strictObject(ActionRequest.shape)),
    review_configs: z.array(z.strictObject(ReviewConfig.shape)),
  }),
});

const Shape: z.ZodType<ThreadState> = z.strictObject({
  version: z.literal(STATE_VERSION),
  messages: z.array(Messages),
  phase: z.enum(['idle', 'model', 'review', 'tools']),
  calls: z.array(Records),
  review: Review.nullable(),
  step: z.int().positive(),
  limit: z.int().positive(),
  failed: z.string().nullable(),
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
