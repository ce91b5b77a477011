import { isOver, type Review, type StreamEvent, type TaskBody } from '@plangate/sdk';
import { firstLine, type Output, plain } from './output.ts';

/** A status without its prefix, in small letters. */
export function statusWord(status: string): string {
  return status.replace('TASK_STATUS_', '').toLowerCase();
}

/** A task for a person: how it stands, and its report where it has one. */
export function describeTask(task: TaskBody, { style }: Output): string {
  const { total_tokens, estimated_cost } = task.usage;
  const lines = [
    `${style('bold', task.task_id)}  ${statusWord(task.status)}${task.error ? `: ${errorOf(task)}` : ''}`,
    firstLine(task.query),
    style('dim', `submitted ${task.created_at}${task.completed_at ? `, ended ${task.completed_at}` : ''}`),
  ];
  if (total_tokens > 0) {
    const cost = estimated_cost > 0 ? `, about $${estimated_cost.toFixed(4)}` : '';
    lines.push(style('dim', `${total_tokens} tokens${cost}`));
  }
  if (task.result !== '') lines.push('', plain(task.result).trimEnd());
  return lines.join('\n');
}

/** True for a task that ended as it should. */
export function hasSucceeded(task: TaskBody): boolean {
  return task.status === 'TASK_STATUS_COMPLETED' && !task.error;
}

/** How a task stands, in one line; `''` while it runs. */
export function describeEnd(task: TaskBody): string {
  if (!isOver(task)) return '';
  return `The task has ended: ${task.error ? errorOf(task) : statusWord(task.status)}.`;
}

/** The error, and the reason where that stands beside it: the error of a failed plan is a fixed text. */
function errorOf({ error = '', metadata }: TaskBody): string {
  const { reason } = metadata;
  return plain(reason ? `${error} (${reason})` : error);
}

/** A review for a person. */
export function describeReview(review: Review, output: Output): string {
  const { style } = output;
  const head = [
    style('bold', review.workflow_id),
    review.status,
    `version ${review.version}`,
    `round ${review.round}`,
    ...(review.status === 'reviewing'
      ? [`${review.feedbacks_left} feedbacks left`, `until ${review.expires_at}`]
      : []),
  ];
  const { decision } = review;
  const by = decision
    ? [
        `${decision.action} by ${plain(decision.by)} at ${decision.at}${decision.reason ? `: ${plain(decision.reason)}` : ''}`,
      ]
    : [];
  return [head.join('  '), ...by, '', planText(review)].join('\n');
}

/** The plan that can be approved, or the question that stands in its place. */
export function planText(review: Pick<Review, 'current_plan' | 'rounds'>): string {
  const question = review.rounds.findLast(({ role }) => role === 'assistant')?.message ?? '';
  return plain(review.current_plan === '' ? question : review.current_plan).trimEnd();
}

/** An event in one line; the words of long ones are cut. */
export function describeEvent({ event, data }: StreamEvent, { style }: Output): string {
  const name = event.padEnd(24);
  if (event === 'gap') return `${name} events up to ${data.earliest} are no longer kept`;
  const text = 'delta' in data ? data.delta : 'response' in data ? data.response : data.message;
  return `${style('cyan', name)} ${style('dim', plain(data.agent_id).padEnd(16))} ${firstLine(text)}`;
}
