import type { DecisionType } from '@plangate/contracts';
import { pythonList } from './python-text.ts';

/** What a person may decide about an action (contract/tool-approval.md §3). */
export const ALLOWED_DECISIONS: readonly DecisionType[] = Object.freeze([
  'approve',
  'edit',
  'reject',
] as const);

/** Result of a rejected call where the person gave no reason. */
export const REJECTED_BY_USER_MESSAGE = 'User rejected this action. It was not executed.';

/** The decision about an action that a direct resume says nothing about. */
export const NO_DECISION = Object.freeze({
  type: 'reject',
  message: 'No decision was given for this action. It was not executed.',
} as const);

/** The model's message where it wants tools and the steps of the turn are used up. */
export const STEP_LIMIT_MESSAGE = 'Maaf, saya butuh lebih banyak langkah untuk menyelesaikan permintaan ini.';

export function descriptionOf(tool: string): string {
  return `Tool \`${tool}\` menunggu persetujuan`;
}

/** Result of a call to a tool that the agent does not have. */
export function unknownToolText(tool: string, tools: readonly string[]): string {
  return `Error: ${tool} is not a valid tool, try one of ${pythonList([...tools].sort())}.`;
}

/** What is wrong with one field of a call's arguments. */
export interface ArgumentFault {
  path: string;
  problem: string;
}

/** Result of a call whose arguments do not fit: fields and problems, nothing of our insides. */
export function invalidArgumentsText(tool: string, faults: readonly ArgumentFault[]): string {
  const fields = faults.map(({ path, problem }) => `${path}: ${problem}`).join('; ');
  return `Error: invalid arguments for ${tool}. ${fields}`;
}

/** Result of a call whose tool threw. */
export function failedText(tool: string): string {
  return `Error: ${tool} failed.`;
}

/** Result of a call whose tool ran and returned what has no JSON, such as an object that holds itself. */
export function unreadableResultText(tool: string): string {
  return `${tool} was executed, but its result cannot be shown.`;
}

/** Result of a call that was running when its process died. */
export function interruptedText(tool: string): string {
  return `Error: ${tool} was interrupted; it is unknown whether it ran.`;
}

/** Result of a gated call that nobody decided about, or about other arguments than these. */
export function notApprovedText(tool: string): string {
  return `Error: ${tool} needs an approval that was not recorded. It was not executed.`;
}
