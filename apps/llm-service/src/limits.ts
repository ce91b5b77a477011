import {
  AnswerRequest,
  ChatRequest,
  DecomposeRequest,
  PLAN_LIMIT_BYTES,
  PlanRequest,
  utf8Bytes,
  WriteRequest,
} from '@plangate/contracts';
import type { z } from 'zod';

/** Longest body of any route in bytes: room for a report's passages. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
const QUERY_LIMIT_BYTES = 40_000;
const CONTEXT_LIMIT_BYTES = 64 * 1024;
const BRIEF_LIMIT_BYTES = 64 * 1024;
const MESSAGE_LIMIT_BYTES = 64 * 1024;
/** Rounds of the longest review that can be configured: two per feedback and the first plan. */
const ROUNDS_LIMIT = 201;
const QUESTIONS_LIMIT = 50;
const PASSAGES_LIMIT = 2_500;
const PASSAGE_LIMIT_BYTES = 64 * 1024;
/** Room for a thread of the largest size (`contract/tool-approval.md`), with what JSON adds to it. */
const CHAT_LIMIT_BYTES = 4 * 1024 * 1024;
const CHAT_MESSAGES_LIMIT = 10_000;
const TOOLS_LIMIT = 128;

type Body = {
  query: string;
  context: Record<string, unknown>;
  plan?: string;
  current_plan?: string;
  research_brief?: string | undefined;
  conversation?: { message: string }[];
};

/** The contracts' requests with limits on what they carry, so that no input grows a prompt without bounds. */
export const PlanBody = limited(PlanRequest).superRefine((body, context) => {
  const most = body.max_rounds * 2 + 1;
  if (body.conversation.length > most) tooMany(context, ['conversation'], `at most ${most} rounds`);
});
export const DecomposeBody = limited(DecomposeRequest).superRefine((body, context) => {
  if (body.max_questions > QUESTIONS_LIMIT) {
    tooMany(context, ['max_questions'], `at most ${QUESTIONS_LIMIT}`);
  }
});
export const WriteBody = limited(WriteRequest).superRefine(({ sections }, context) => {
  if (sections.length > QUESTIONS_LIMIT)
    tooMany(context, ['sections'], `at most ${QUESTIONS_LIMIT} sections`);
  const passages = sections.flatMap((section) => section.passages);
  if (passages.length > PASSAGES_LIMIT) tooMany(context, ['sections'], `at most ${PASSAGES_LIMIT} passages`);
  if (passages.some(({ text }) => utf8Bytes(text) > PASSAGE_LIMIT_BYTES)) {
    tooMany(context, ['sections'], `at most ${PASSAGE_LIMIT_BYTES} bytes per passage`);
  }
});
export const AnswerBody = limited(AnswerRequest);
export const ChatBody = ChatRequest.superRefine(({ messages, tools }, context) => {
  if (messages.length > CHAT_MESSAGES_LIMIT) {
    tooMany(context, ['messages'], `at most ${CHAT_MESSAGES_LIMIT} messages`);
  }
  if (utf8Bytes(JSON.stringify(messages)) > CHAT_LIMIT_BYTES) {
    tooMany(context, ['messages'], `at most ${CHAT_LIMIT_BYTES} bytes`);
  }
  if (tools.length > TOOLS_LIMIT) tooMany(context, ['tools'], `at most ${TOOLS_LIMIT} tools`);
  if (new Set(tools.map(({ name }) => name)).size < tools.length) {
    tooMany(context, ['tools'], 'two tools have the same name');
  }
});

function limited<T extends z.ZodType<Body>>(schema: T): T {
  return schema.superRefine((body, context) => {
    const texts: [string, string | undefined, number][] = [
      ['query', body.query, QUERY_LIMIT_BYTES],
      ['context', JSON.stringify(body.context), CONTEXT_LIMIT_BYTES],
      ['plan', body.plan, PLAN_LIMIT_BYTES],
      ['current_plan', body.current_plan, PLAN_LIMIT_BYTES],
      ['research_brief', body.research_brief, BRIEF_LIMIT_BYTES],
    ];
    for (const [name, text, limit] of texts) {
      if (text !== undefined && utf8Bytes(text) > limit) tooMany(context, [name], `at most ${limit} bytes`);
    }
    const rounds = body.conversation ?? [];
    if (rounds.length > ROUNDS_LIMIT) tooMany(context, ['conversation'], `at most ${ROUNDS_LIMIT} rounds`);
    rounds.forEach(({ message }, index) => {
      if (utf8Bytes(message) > MESSAGE_LIMIT_BYTES) {
        tooMany(context, ['conversation', index, 'message'], `at most ${MESSAGE_LIMIT_BYTES} bytes`);
      }
    });
  });
}

function tooMany(context: z.RefinementCtx, path: PropertyKey[], message: string): void {
  context.addIssue({ code: 'custom', path, message });
}
