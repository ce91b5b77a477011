import type { NewEvent, Question, TaskInput } from '@plangate/contracts';
import { isCancellation } from '@temporalio/workflow';
import type { ChosenPlan, WorkflowEnd } from '../activities/index.ts';
import { agents, stores } from './activities.ts';
import type { TaskControl } from './control.ts';
import { reasonOf } from './lifecycle.ts';

/**
 * From a plan to the report: questions, sources in parallel, writing, checked citations. Each step waits while the
 * task is paused; what a step found is kept by the store.
 */
export async function conductResearch(
  input: TaskInput,
  control: TaskControl,
  plan: ChosenPlan,
): Promise<WorkflowEnd> {
  try {
    const questions = await control.step(() => agents.decomposePlan(input, plan));
    await stores.announce(input.workflow_id, 'delegation', delegation(input, questions));
    await answerAll(input, control, questions);
    return await control.step(() => agents.writeReport(input, plan, questions));
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { kind: 'research_failed', reason: reasonOf(error) };
  }
}

/** Works on as many questions at a time as the strategy allows. */
async function answerAll(input: TaskInput, control: TaskControl, questions: Question[]): Promise<void> {
  const queue = questions.values();
  let done = 0;
  let announced = Promise.resolve();
  const announce = (event: NewEvent, key: string) => {
    announced = announced.then(() => stores.announce(input.workflow_id, key, event));
    return announced;
  };
  const agent = async () => {
    for (const question of queue) {
      await control.step(() => agents.researchQuestion(input, question));
      done += 1;
      await announce(progress(done, questions.length), `progress:${done}`);
    }
  };
  const count = Math.min(input.strategy.max_concurrent_agents, questions.length);
  await Promise.all(Array.from({ length: count }, agent));
}

function delegation(input: TaskInput, questions: Question[]): NewEvent {
  return {
    type: 'DELEGATION',
    agent_id: 'orchestrator',
    message: `Researching ${questions.length} questions`,
    payload: { questions, strategy: input.strategy_name },
  };
}

function progress(done: number, total: number): NewEvent {
  return {
    type: 'PROGRESS',
    agent_id: 'orchestrator',
    message: `${done} of ${total} questions answered`,
    payload: { done, total },
  };
}
