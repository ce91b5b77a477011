import { cleanText, MODEL_TEXT_LIMIT_BYTES, type ModelUsage, utf8Bytes } from '@plangate/contracts';
import type { Corpus } from '@plangate/research/corpus';
import { OFFLINE } from '@plangate/service';
import { type Agent, ProviderFailure } from '../agent.ts';
import { OFFLINE_MODEL } from '../models/select.ts';
import { extractAnswer } from './answer.ts';
import { offlineReply } from './chat/reply.ts';
import { questionsOf } from './decompose.ts';
import { languageOf } from './language.ts';
import { PHRASES } from './phrases.ts';
import { offlinePlan } from './plan.ts';
import { extractReport } from './write.ts';

const USAGE: ModelUsage = { provider: OFFLINE, model: OFFLINE_MODEL, input_tokens: 0, output_tokens: 0 };

/**
 * The agent that answers without a key and without network, from the local documents alone; the same request gives
 * the same answer.
 * @param corpus the documents, awaited by whatever needs them
 */
export function offlineAgent(corpus: () => Promise<Corpus>): Agent {
  return {
    plan: async (request) => {
      const reply = offlinePlan(request, await corpus());
      const message = cleanText(reply.message);
      if (utf8Bytes(message) > MODEL_TEXT_LIMIT_BYTES) throw new ProviderFailure('text too long');
      return {
        ...reply,
        message,
        plan: reply.plan === null ? null : message,
        round: request.current_round,
        ...USAGE,
      };
    },
    decompose: async ({ plan, query, max_questions }) => ({
      questions: questionsOf(plan, query, max_questions, await corpus()),
      ...USAGE,
    }),
    write: async (request) => ({
      report: extractReport(request, PHRASES[languageOf(request.query)]),
      ...USAGE,
    }),
    answer: async ({ query }) => ({
      ...extractAnswer(await corpus(), query, PHRASES[languageOf(query)]),
      ...USAGE,
    }),
    chat: async (request) => ({ ...offlineReply(request), ...USAGE }),
  };
}
