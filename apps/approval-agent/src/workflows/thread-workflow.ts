import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import {
  CHAT_UPDATE,
  type ChatTurn,
  type LaterOutcome,
  MESSAGES_QUERY,
  OUTCOME_QUERY,
  REVIEW_UPDATE,
  type ReviewTurn,
  type ThreadInput,
  type ThreadView,
  type TurnOutcome,
  VIEW_QUERY,
} from '../thread-contract.ts';
import { Thread } from './thread.ts';

const chat = defineUpdate<TurnOutcome, [ChatTurn]>(CHAT_UPDATE);
const review = defineUpdate<TurnOutcome, [ReviewTurn]>(REVIEW_UPDATE);
const view = defineQuery<ThreadView>(VIEW_QUERY);
const messages = defineQuery<Thread['messages']>(MESSAGES_QUERY);
const outcome = defineQuery<LaterOutcome | null, [string]>(OUTCOME_QUERY);

/**
 * One conversation, for ever. Chat and review are Updates, because their callers wait for the outcome and because a
 * validator refuses what may not come now before anything is written.
 */
export async function ThreadWorkflow(input: ThreadInput): Promise<void> {
  const thread = new Thread(input);
  setHandler(view, () => thread.view);
  setHandler(messages, () => thread.messages);
  setHandler(outcome, (turnId) => thread.outcomeOf(turnId));
  setHandler(chat, (turn) => thread.chat(turn), { validator: (turn) => thread.checkChat(turn) });
  setHandler(review, (turn) => thread.review(turn), { validator: (turn) => thread.checkReview(turn) });
  await condition(() => thread.isWorn && allHandlersFinished());
  await continueAsNew<typeof ThreadWorkflow>(thread.left);
}
