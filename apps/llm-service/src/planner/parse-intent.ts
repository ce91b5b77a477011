import { cleanText, type Intent, isBlank } from '@plangate/contracts';
import { markFences } from './fences.ts';

/** What the request was made with; a reply is read in the light of it. */
export interface ReplyContext {
  /** The plan that the reply revises; blank where there is none. */
  currentPlan: string;
  finalRound: boolean;
}

/** A planner's reply as `contract/plan-review.md §5` reads it; `plan` null leaves `current_plan` as it is. */
export interface PlanReply {
  message: string;
  intent: Intent;
  plan: string | null;
  research_brief?: string;
}

/** A reply that holds no text: a failed call, never a plan. */
export class EmptyReply extends Error {
  override readonly name = 'EmptyReply';
}

const TAG_LINE = /^[\p{Zs}\t*_`]*\[INTENT:(feedback|ready|execute)\][\p{Zs}\t*_`]*$/iu;
const BRIEF = /\[RESEARCH_BRIEF\]([\s\S]*?)\[\/RESEARCH_BRIEF\]/g;

/**
 * Reads a model's reply: the last tag line outside code fences decides and all of them are removed, brief blocks
 * become `research_brief`, and nothing is ever approved (`contract/plan-review.md §5`).
 * @throws {EmptyReply} where no text is left
 */
export function parsePlanReply(text: string, { currentPlan, finalRound }: ReplyContext): PlanReply {
  const { rest, brief } = takeBriefs(cleanText(text));
  const { body, tag } = takeTags(rest);
  const message = body.trim();
  if (isBlank(message)) throw new EmptyReply('the model gave no text');

  const reply = { message, ...decide(message, tag, currentPlan, finalRound) };
  return brief === undefined ? reply : { ...reply, research_brief: brief };
}

function takeBriefs(text: string): { rest: string; brief: string | undefined } {
  const briefs: string[] = [];
  const rest = text.replace(BRIEF, (_block, inner: string) => {
    if (!isBlank(inner)) briefs.push(inner.trim());
    return '';
  });
  return { rest, brief: briefs.length === 0 ? undefined : briefs.join('\n\n') };
}

function takeTags(text: string): { body: string; tag: string | undefined } {
  let tag: string | undefined;
  const kept: string[] = [];
  for (const { line, fenced } of markFences(text)) {
    const found = fenced ? undefined : TAG_LINE.exec(line)?.[1];
    if (found === undefined) kept.push(line);
    else tag = found.toLowerCase();
  }
  return { body: kept.join('\n'), tag };
}

function decide(
  message: string,
  tag: string | undefined,
  currentPlan: string,
  finalRound: boolean,
): Pick<PlanReply, 'intent' | 'plan'> {
  if (tag === 'execute' && !isBlank(currentPlan)) return { intent: 'ready', plan: null };
  if (finalRound || tag === 'ready') return { intent: 'ready', plan: message };
  return { intent: 'feedback', plan: null };
}
