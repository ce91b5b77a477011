import type { AnswerRequest } from '@plangate/contracts';
import { contextText, quoting } from './prompt-text.ts';

/** What a model is told that answers a task which is not research. */
export function answerPrompt(request: AnswerRequest): { instructions: string; prompt: string } {
  const { rule, quote } = quoting();
  return {
    instructions: [
      'You answer a question or a task in one message of Markdown, in the language of the person. Say plainly what you do not know. You have no tools and no sources here: do not pretend to have looked something up.',
      "The person's query is the task; the context is material for it.",
      rule,
    ].join('\n\n'),
    prompt: [`Query:\n${request.query}`, quote('Context', contextText(request.context))].join('\n\n'),
  };
}
