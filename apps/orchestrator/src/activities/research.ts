import type { Question, ResearchMetadata, Round, TaskInput, WorkflowId } from '@plangate/contracts';
import type { KeyedEvent } from '@plangate/events';
import { researchQuestion as lookUp, numberPassages, planToQuestions } from '@plangate/research';
import { sha256 } from '@plangate/review/use-cases';
import type { Draft } from '@plangate/tasks/redis';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { askModel, withHeartbeat } from './faults.ts';
import { finishAnyReport } from './finish-report.ts';
import type { Parts } from './parts.ts';
import { publish } from './publish.ts';
import type { ChosenPlan, WorkflowEnd } from './types.ts';

const WRITER = 'writer';
const NOTHING_FITS = 'The documents hold nothing that fits this plan, so there is nothing to report.';

/** From the plan to the written report; each step may be tried again, its events appear once. */
export function researchActivities(parts: Parts) {
  const { llm, reviews, tasks, drafts, findings, events, source, log } = parts;
  return {
    /** The plan as questions. Where the model cannot divide it, its own lines are the questions. */
    async decomposePlan(input: TaskInput, plan: ChosenPlan): Promise<Question[]> {
      verifyPlan(plan);
      return divide(input, plan);
    },

    /** Looks a question up; what it finds waits in the store for the report. */
    async researchQuestion(input: TaskInput, question: Question): Promise<void> {
      const id = input.workflow_id as WorkflowId;
      await events.append(id, [
        step(question, 'AGENT_STARTED', question.text, {}),
        step(question, 'TOOL_INVOKED', `Searching ${source.name} documents`, { source: source.name }),
      ]);
      const finding = await withHeartbeat(() =>
        lookUp(question, source, input.strategy, { signal: Context.current().cancellationSignal }),
      );
      const { passages, searches } = await findings.save(id, finding);
      const found = passages.map(({ id: passage_id, title, url }) => ({ passage_id, title, url }));
      await events.append(id, [
        step(question, 'TOOL_OBSERVATION', `${passages.length} passages found`, {
          searches,
          passages: found,
        }),
        step(question, 'AGENT_COMPLETED', `Done: ${question.text}`, { passages: passages.length }),
      ]);
    },

    /** Writes the report and checks every citation against its passage; the result waits as a draft for the end. */
    async writeReport(input: TaskInput, plan: ChosenPlan, questions: Question[]): Promise<WorkflowEnd> {
      verifyPlan(plan);
      const id = input.workflow_id as WorkflowId;
      const standing = await drafts.load(id);
      if (standing) return show(id, standing);
      const found = await findings.load(id, questions);
      if (!found) return { kind: 'research_failed', reason: 'what was found was lost' };
      const { sections, byN } = numberPassages(found);
      await events.append(id, [agent(WRITER, 'AGENT_STARTED', 'Writing the report', { passages: byN.size })]);
      const written = byN.size === 0 ? null : await write(input, plan, sections);
      const report = {
        title: input.query,
        body: written?.report ?? NOTHING_FITS,
        passages: byN,
        verify: input.strategy.enable_verification,
        enableCitations: input.enable_citations,
        unanswered: found
          .filter(({ passages }) => passages.length === 0)
          .map(({ question }) => question.text),
      };
      const finished = await withHeartbeat(() =>
        finishAnyReport(report, Context.current().cancellationSignal),
      );
      const metadata: ResearchMetadata = {
        citations: finished.citations,
        plan_sha256: plan.sha256,
        plan_version: plan.version,
        approved_by: plan.approved_by,
        strategy: input.strategy_name,
        provider: written?.provider ?? 'none',
        verification: finished.verification,
      };
      const { model, provider } = written ?? { model: '', provider: 'none' };
      const draft = { result: finished.report, metadata, modelUsed: model, provider };
      return show(id, await drafts.save(id, draft));
    },
  };

  /** Tells the same of a report whether its step went through at once or broke off after the report was kept. */
  async function show(id: WorkflowId, draft: Draft): Promise<WorkflowEnd> {
    const { verification = {} } = draft.metadata;
    await events.append(id, [agent(WRITER, 'AGENT_COMPLETED', 'Report written', verification)]);
    return publish(parts, id, draft);
  }

  async function divide(input: TaskInput, plan: ChosenPlan): Promise<Question[]> {
    const { max_questions } = input.strategy;
    const { brief } = await reviewOf(input);
    try {
      const answer = await askModel('divide the plan into questions', (signal) =>
        llm.decompose(
          {
            ...input.model,
            query: input.query,
            context: input.context,
            plan: plan.text,
            ...(brief ? { research_brief: brief } : {}),
            max_questions,
          },
          signal,
        ),
      );
      await tasks.addUsage(input.workflow_id as WorkflowId, answer, 'decompose');
      return answer.questions.slice(0, max_questions);
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || !error.nonRetryable) throw error;
      log.warn({ workflow_id: input.workflow_id, err: error.message }, 'plan divided by its own lines');
      const questions = planToQuestions(plan.text, { maxQuestions: max_questions });
      return questions.length > 0 ? questions : [{ id: 'q1', text: input.query, terms: [] }];
    }
  }

  async function write(
    input: TaskInput,
    plan: ChosenPlan,
    sections: ReturnType<typeof numberPassages>['sections'],
  ) {
    const { rounds, brief } = await reviewOf(input);
    const answer = await askModel('write the report', (signal) =>
      llm.write(
        {
          ...input.model,
          query: input.query,
          context: input.context,
          plan: plan.text,
          ...(brief ? { research_brief: brief } : {}),
          conversation: rounds,
          strategy: input.strategy_name,
          sections,
        },
        signal,
      ),
    );
    await tasks.addUsage(input.workflow_id as WorkflowId, answer, 'write');
    return answer;
  }

  /**
   * The conversation is read from the store: it is too large to travel through the engine. Asked before a model is, it
   * also keeps a step from paying for answers that it could not store.
   */
  async function reviewOf(input: TaskInput): Promise<{ rounds: Round[]; brief: string | undefined }> {
    const { state } = await reviews.load(input.workflow_id as WorkflowId);
    return { rounds: state?.rounds ?? [], brief: state?.research_brief };
  }
}

/** @throws a failure that no retry mends, where the text is not the approved one (design rule 6) */
function verifyPlan(plan: ChosenPlan): void {
  if (sha256(plan.text) !== plan.sha256) {
    throw ApplicationFailure.nonRetryable('the plan is not the one that was approved', 'plan_mismatch');
  }
}

function step(
  question: Question,
  type: KeyedEvent['type'],
  message: string,
  payload: Record<string, unknown>,
): KeyedEvent {
  return { ...agent(`researcher-${question.id}`, type, message, payload), key: `${question.id}:${type}` };
}

function agent(
  name: string,
  type: KeyedEvent['type'],
  message: string,
  payload: Record<string, unknown>,
): KeyedEvent {
  return { key: `${name}:${type}`, type, agent_id: name, message, payload };
}
