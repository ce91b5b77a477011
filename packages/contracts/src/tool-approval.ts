import { z } from 'zod';
import { isJsonObject, type JsonObject } from './json.ts';

/**
 * Arguments of a call, handed on as they are. Not a `z.record`: that leaves out a field named `__proto__`, and
 * what a person has seen would not be what is checked and run.
 */
export const CallArguments = z
  .unknown()
  .refine(isJsonObject, 'Input should be a valid dictionary')
  .meta({ type: 'object', additionalProperties: true }) as unknown as z.ZodType<JsonObject, JsonObject>;

export const DecisionType = z.enum(['approve', 'edit', 'reject']);
export type DecisionType = z.infer<typeof DecisionType>;

/** One action that waits for a person (contract/tool-approval.md §2). */
export const ActionRequest = z.object({ name: z.string(), args: CallArguments, description: z.string() });
export type ActionRequest = z.infer<typeof ActionRequest>;

/** What may be decided about the action at the same place of `action_requests`. */
export const ReviewConfig = z.object({
  action_name: z.string(),
  allowed_decisions: z.array(DecisionType),
});
export type ReviewConfig = z.infer<typeof ReviewConfig>;

/** `pending_review`: every gated call of one turn of the model, in the order of the calls (§2). */
export const ReviewRequest = z.object({
  action_requests: z.array(ActionRequest).min(1),
  review_configs: z.array(ReviewConfig).min(1),
});
export type ReviewRequest = z.infer<typeof ReviewRequest>;

/** The action that takes the place of a proposed one: all of its arguments, not only the changed ones. */
export const EditedAction = z.object({ name: z.string(), args: CallArguments });
export type EditedAction = z.infer<typeof EditedAction>;

/** A person's answer to one action; fields that are not of its type are ignored (§1). */
export const Decision = z.object({
  type: DecisionType,
  edited_action: EditedAction.nullish(),
  message: z.string().nullish(),
});
export type Decision = z.infer<typeof Decision>;

/** Body of `POST /hitl/chat`; an absent, null or empty `thread_id` asks for a new thread. */
export const HitlChatRequest = z.object({
  message: z.string().min(1),
  thread_id: z.string().max(256).nullish(),
});
export type HitlChatRequest = z.infer<typeof HitlChatRequest>;

/** Body of `POST /hitl/review`; `review_id` binds the answer to one review (additive). */
export const HitlReviewRequest = z.object({
  thread_id: z.string().max(256),
  decisions: z.array(Decision).min(1),
  review_id: z.string().nullish(),
});
export type HitlReviewRequest = z.infer<typeof HitlReviewRequest>;

/** 200 of chat, review and `GET /hitl/threads/{thread_id}`: exactly these keys. */
export const HitlAnswer = z.object({
  thread_id: z.string(),
  answer: z.string().nullable(),
  pending_review: ReviewRequest.nullable(),
});
export type HitlAnswer = z.infer<typeof HitlAnswer>;

/** A call as the model's message holds it; after an edit it holds what ran. */
export const ToolCall = z.object({
  /** Unique in its thread. */
  id: z.string().min(1),
  name: z.string(),
  args: CallArguments,
  /** What the model wrote where that is no JSON object; `args` is empty then and the call never runs. */
  invalid_args: z.string().optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

export const UserMessage = z.object({ role: z.literal('user'), content: z.string() });
export type UserMessage = z.infer<typeof UserMessage>;

export const AssistantMessage = z.object({
  role: z.literal('assistant'),
  content: z.string(),
  tool_calls: z.array(ToolCall),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

/** The one result of a call. */
export const ToolMessage = z.object({
  role: z.literal('tool'),
  content: z.string(),
  name: z.string(),
  tool_call_id: z.string().min(1),
  status: z.enum(['success', 'error']),
});
export type ToolMessage = z.infer<typeof ToolMessage>;

export const Message = z.discriminatedUnion('role', [UserMessage, AssistantMessage, ToolMessage]);
export type Message = z.infer<typeof Message>;

/** Body of `GET /hitl/threads/{thread_id}/messages` (additive). */
export const ThreadMessages = z.object({ thread_id: z.string(), messages: z.array(Message) });
export type ThreadMessages = z.infer<typeof ThreadMessages>;

/** One thing that is wrong with a body, in the words of pydantic (§1). */
export const BodyFault = z.object({
  type: z.string(),
  /** Where it is, such as `["body", "decisions", 0, "type"]`. */
  loc: z.array(z.union([z.string(), z.int()])),
  msg: z.string(),
  input: z.unknown(),
  ctx: z.record(z.string(), z.unknown()).optional(),
});
export type BodyFault = z.infer<typeof BodyFault>;

/** Every answer that is no 200: a text, or of a body that does not fit every fault. */
export const DetailBody = z.object({ detail: z.union([z.string(), z.array(BodyFault)]) });
export type DetailBody = z.infer<typeof DetailBody>;
