import { isBlank, type PlanRequest } from '@plangate/contracts';
import { type Corpus, nameOf } from '@plangate/research/corpus';
import type { PlanReply } from '../planner/parse-intent.ts';
import { isFinalRound } from '../planner/prompt.ts';
import { coverageOf } from './areas.ts';
import type { Change } from './change.ts';
import { changesIn, soundsLikeApproval } from './changes.ts';
import { type Area, areaFor } from './covering.ts';
import { planText, shortQuery } from './first-plan.ts';
import { languageOf } from './language.ts';
import { PHRASES, type Phrases } from './phrases.ts';
import { revise } from './revise.ts';
import { capitalised, subjectsOf } from './subjects.ts';

const EXAMPLES = 5;

/**
 * The planner without a model: the first plan lists what the documents cover, a revision follows the newest feedback.
 * It speaks the language of the query in every round, asks at most once before it makes a plan, and approves nothing.
 */
export function offlinePlan(request: PlanRequest, corpus: Corpus): PlanReply {
  const phrases = PHRASES[languageOf(request.query)];
  const feedback = newestFeedback(request);
  if (feedback === undefined || isBlank(request.current_plan)) {
    return feedback === undefined
      ? firstPlan(request, corpus, phrases)
      : ready(statedPlan(request, feedback, corpus, phrases));
  }
  const changes = changesIn(feedback);
  const revision = changes.length > 0 ? revise(request.current_plan, changes, corpus, phrases) : undefined;
  if (revision?.ok) return ready(revision.plan);
  if (isFinalRound(request)) return ready(request.current_plan);
  if (revision) return question(phrases.askRest);
  return question(soundsLikeApproval(feedback) ? phrases.approvalIsYours : phrases.askChange);
}

function newestFeedback({ conversation }: PlanRequest): string | undefined {
  const last = conversation.at(-1);
  return last?.role === 'user' ? last.message : undefined;
}

function firstPlan(request: PlanRequest, corpus: Corpus, phrases: Phrases): PlanReply {
  const { query } = request;
  const documents = corpus.documents.length;
  const coverage = coverageOf(corpus, query);
  if (coverage.areas.length > 0) return ready(planText(coverage, query, documents, phrases));
  if (isFinalRound(request)) return ready(statedPlan(request, '', corpus, phrases));
  return question(phrases.askWhat(shortQuery(query), documents, longest(corpus).join(', ')));
}

/** The names of the documents that say most. */
function longest(corpus: Corpus): string[] {
  const names = corpus.documents
    .map((document) => ({ name: nameOf(document), length: corpus.passagesOf(document.id).length }))
    .sort((a, b) => b.length - a.length)
    .map(({ name }) => name);
  return [...new Set(names)].slice(0, EXAMPLES);
}

/** A plan by what the person asked for, where the documents gave none: it says where they are silent. */
function statedPlan({ query }: PlanRequest, feedback: string, corpus: Corpus, phrases: Phrases): string {
  const changes = changesIn(feedback);
  const dropped = changes.filter(({ kind }) => kind === 'drop').map(({ what }) => what.toLowerCase());
  const wanted = changes.filter(({ kind }) => kind !== 'drop').flatMap(subjectsOfChange);
  const subjects = [...wanted, ...(changes.length === 0 ? subjectsOf(feedback) : []), ...subjectsOf(query)];
  const distinct = new Map(subjects.map((subject) => [subject.toLowerCase(), subject]));
  for (const subject of dropped) distinct.delete(subject);
  const areas: Area[] = [...distinct.values()].slice(0, 6).map((subject) => areaFor(corpus, subject));
  const whole: Area = { title: capitalised(shortQuery(query)), documents: [] };
  return planText(
    { areas: areas.length > 0 ? areas : [whole], missing: [], mentioned: [] },
    query,
    corpus.documents.length,
    phrases,
  );
}

function subjectsOfChange({ what }: Change): string[] {
  return what.split(/\s*[,、，;]\s*/u).filter((part) => part !== '');
}

function ready(plan: string): PlanReply {
  return { message: plan, intent: 'ready', plan };
}

function question(message: string): PlanReply {
  return { message, intent: 'feedback', plan: null };
}
