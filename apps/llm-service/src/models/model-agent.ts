import { MODEL_TEXT_LIMIT_BYTES, REPORT_LIMIT_BYTES } from '@plangate/contracts';
import { type Agent, ProviderFailure } from '../agent.ts';
import { answerPrompt } from '../answer.ts';
import { decomposePrompt, readQuestions } from '../decompose.ts';
import { EmptyReply, parsePlanReply } from '../planner/parse-intent.ts';
import { isFinalRound, planPrompt } from '../planner/prompt.ts';
import { writePrompt } from '../write.ts';
import type { Converse } from './converse.ts';
import type { Generate } from './generate.ts';

/** An agent whose answers come from a model; each rejects with `ProviderFailure` where the model gave nothing usable. */
export function modelAgent(generate: Generate, converse: Converse): Agent {
  return {
    plan: async (request) => {
      const { text, usage } = await generate(request, {
        ...planPrompt(request),
        maxBytes: MODEL_TEXT_LIMIT_BYTES,
      });
      const reply = usable(() =>
        parsePlanReply(text, { currentPlan: request.current_plan, finalRound: isFinalRound(request) }),
      );
      return { ...reply, round: request.current_round, ...usage };
    },
    decompose: async (request) => {
      const { text, usage } = await generate(request, {
        ...decomposePrompt(request),
        maxBytes: MODEL_TEXT_LIMIT_BYTES,
      });
      const questions = readQuestions(text, request.max_questions);
      if (questions.length === 0) throw new ProviderFailure('no questions in the answer');
      return { questions, ...usage };
    },
    write: async (request) => {
      const { text, usage } = await generate(request, {
        ...writePrompt(request),
        maxBytes: REPORT_LIMIT_BYTES,
      });
      return { report: text.trim(), ...usage };
    },
    answer: async (request) => {
      const { text, usage } = await generate(request, {
        ...answerPrompt(request),
        maxBytes: MODEL_TEXT_LIMIT_BYTES,
      });
      return { answer: text.trim(), ...usage };
    },
    chat: converse,
  };
}

function usable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof EmptyReply) throw new ProviderFailure('empty text');
    throw error;
  }
}
