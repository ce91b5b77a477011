import { type Command, decide, type ReviewState } from '@plangate/review';
import { canonical } from './canonical.ts';
import { commandOfOperation } from './commands.ts';
import type { History, ModelCall, Recorded } from './recording.ts';

/** `states[v]` is the state at version v; `states[0]` is null: there was none. */
export type States = readonly (ReviewState | null)[];

/** The versions at which something holds. */
export function versionsWhere(
  states: States,
  holds: (state: ReviewState | null, at: number) => boolean,
): number[] {
  return states.flatMap((state, at) => (holds(state, at) ? [at] : []));
}

/** The versions that a feedback may have begun on: allowed there, and the conversation that the model was given. */
export function basesOf(
  operation: Recorded,
  { request }: ModelCall,
  history: History,
  states: States,
): number[] {
  const { conversation, current_plan, current_round, is_final_round = false } = request;
  const given = conversation.slice(0, -1);
  return versionsWhere(states, (state) => {
    if (!state || !allows(state, commandOfOperation(operation, history))) return false;
    const isFinal = state.round >= state.max_rounds;
    return (
      canonical(given) === canonical(state.rounds) &&
      current_plan === state.current_plan &&
      current_round === state.round &&
      is_final_round === isFinal
    );
  });
}

/** Whether the rules allow a command at this state. */
export function allows(state: ReviewState, command: Command | null): boolean {
  return command !== null && decide({ state, now: 0, feedbackInFlight: false }, command).ok;
}
