import { cleanText, type DecomposeRequest, isBlank, type Question } from '@plangate/contracts';
import { z } from 'zod';
import { jsonValues } from './json-text.ts';
import { contextText, quoting } from './prompt-text.ts';

/** What a model is told that makes questions of an approved plan. */
export function decomposePrompt(request: DecomposeRequest): { instructions: string; prompt: string } {
  const { rule, quote } = quoting();
  return {
    instructions: [
      'You turn an approved research plan into questions that can be looked up one by one. Cover every area of the plan in its order, respect its priorities and what it leaves out, and add nothing that it does not ask for.',
      `At most ${request.max_questions} questions. Write them in the language of the plan; give for each 2 to 6 search words that the sources are likely to use.`,
      'Answer with JSON only: {"questions":[{"text":"…","terms":["…"]}]}',
      rule,
    ].join('\n\n'),
    prompt: [
      quote('Original query', request.query),
      quote('Approved plan', request.plan),
      quote('Research brief', request.research_brief ?? ''),
      quote('Context', contextText(request.context)),
    ].join('\n\n'),
  };
}

const text = z
  .string()
  .transform((value) => cleanText(value).replace(/\s+/g, ' ').trim())
  .refine((value) => !isBlank(value));
const QuestionLike = z.union([
  text.transform((question) => ({ text: question, terms: [] as string[] })),
  z.object({ text, terms: z.array(text).catch([]).default([]) }),
  z
    .object({ question: text, terms: z.array(text).catch([]).default([]) })
    .transform(({ question, terms }) => ({ text: question, terms })),
]);

/**
 * The questions in a model's answer, at most `limit`, numbered `q1`…; `[]` where it holds none. Takes
 * `{"questions": […]}`, a bare array, and several objects in a row, with whatever stands around them.
 */
export function readQuestions(answer: string, limit: number): Question[] {
  const found = jsonValues(answer).flatMap(questionsIn);
  const seen = new Set<string>();
  const unique = found.filter(({ text: question }) => !seen.has(question) && seen.add(question));
  return unique.slice(0, limit).map((question, index) => ({ id: `q${index + 1}`, ...question }));
}

function questionsIn(value: unknown): Omit<Question, 'id'>[] {
  const list = Array.isArray(value) ? value : listOf(value);
  return list.flatMap((item) => {
    const parsed = QuestionLike.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
}

function listOf(value: unknown): unknown[] {
  const holder = z.object({ questions: z.array(z.unknown()) }).safeParse(value);
  return holder.success ? holder.data.questions : [value];
}
