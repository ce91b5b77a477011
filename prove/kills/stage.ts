import type { AuditEntry, WorkflowEvent } from '@plangate/contracts';
import type { Life } from './life.ts';

/** How far a review was when something was killed. */
export const STAGES = [
  'before the first plan',
  'open',
  'during a model call',
  'deciding',
  'decided, not yet acted upon',
  'during research',
  'at the end',
] as const;
export type Stage = (typeof STAGES)[number];

const DECISIONS = ['approve', 'reject', 'cancel', 'time_out'];

/**
 * The stage of a life at a moment, by the times of its requests, its audit and its events; null: it had not begun, or
 * its last event was told already.
 */
export function stageAt(
  { submitted, actions, calls }: Pick<Life, 'submitted' | 'actions' | 'calls'>,
  { audit, events }: { audit: AuditEntry[]; events: WorkflowEvent[] },
  moment: number,
): Stage | null {
  const told = (type: string) => timeOf(events.find((event) => event.type === type)?.timestamp);
  if (moment < submitted.from || moment > told('STREAM_END')) return null;
  const decision = audit.find(({ outcome, action }) => outcome === 'accepted' && DECISIONS.includes(action));
  const decided = timeOf(decision?.at);
  const acted = told('RESEARCH_PLAN_APPROVED');
  if (moment >= told('LLM_OUTPUT')) return 'at the end';
  if (moment >= acted) return 'during research';
  if (moment >= decided) return 'decided, not yet acted upon';
  if (moment < told('RESEARCH_PLAN_READY')) return 'before the first plan';
  const deciding = actions.some(
    ({ kind, from }) => kind === decision?.action && from <= moment && moment < decided,
  );
  if (deciding) return 'deciding';
  const isAsked = calls.some(({ kind, from, to }) => kind === 'plan' && from <= moment && moment < to);
  return isAsked ? 'during a model call' : 'open';
}

/** Infinity: never. */
function timeOf(at: string | undefined): number {
  return at === undefined ? Number.POSITIVE_INFINITY : Date.parse(at);
}
