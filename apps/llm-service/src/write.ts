import type { WriteRequest } from '@plangate/contracts';
import { contextText, conversationText, quoting } from './prompt-text.ts';

/** What a model is told that writes the report over numbered passages. */
export function writePrompt(request: WriteRequest): { instructions: string; prompt: string } {
  const { rule, quote } = quoting();
  return {
    instructions: [
      'You write a research report in Markdown by an approved plan: a short summary first, then one section with a heading per question.',
      'Every statement of fact is taken from a numbered passage and cites it as [n] at the end of its sentence; several as [1][4]. Use no other numbers in brackets, no knowledge of your own, and no source that is not given.',
      'Where the passages say nothing about a question, its section says so in one sentence. Where they contradict each other, say that.',
      'Keep to what the plan includes, in its order of priority, and leave out what it leaves out. Write in the language of the original query. No images, no HTML, no list of sources at the end.',
      rule,
    ].join('\n\n'),
    prompt: [
      quote('Original query', request.query),
      quote('Approved plan', request.plan),
      quote('Research brief', request.research_brief ?? ''),
      quote('Conversation that led to the plan', conversationText(request.conversation)),
      quote('Context', contextText(request.context)),
      ...request.sections.flatMap(({ question, passages }) => [
        quote(`Question ${question.id}`, question.text),
        ...passages.map((passage) =>
          quote(
            `Passage [${passage.n}] for ${question.id}`,
            `${[passage.title, passage.heading].filter((part) => part !== '').join(' · ')}\n\n${passage.text}`,
          ),
        ),
        ...(passages.length === 0 ? [`No passages were found for ${question.id}.`] : []),
      ]),
      'Write the report now.',
    ].join('\n\n'),
  };
}
