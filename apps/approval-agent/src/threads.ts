import type { Logger } from '@plangate/service';
import { lazyConnection } from '@plangate/service/temporal';
import type { ThreadMessage } from '@plangate/tool-approval';
import {
  ApplicationFailure,
  Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type WorkflowUpdateHandle,
} from '@temporalio/client';
import {
  CHAT_UPDATE,
  type ChatTurn,
  type LaterOutcome,
  MESSAGES_QUERY,
  OUTCOME_QUERY,
  REVIEW_UPDATE,
  type ReviewTurn,
  THREAD_WORKFLOW,
  type ThreadInput,
  type ThreadView,
  type TurnOutcome,
  VIEW_QUERY,
} from './thread-contract.ts';

type ThreadWorkflow = (input: ThreadInput) => Promise<void>;

/** `refused`: the validator said no, by the name of its error; `busy`: the engine takes no more for this thread now. */
export type Turn =
  | { kind: 'done'; outcome: TurnOutcome }
  | { kind: 'refused'; error: string; text: string }
  /** It was taken before, and the thread has gone on since: there is no outcome of it to give any more. */
  | { kind: 'superseded' }
  | { kind: 'busy' }
  | { kind: 'unknown_thread' };

/** Temporal, or this process's worker, did not answer in time. What was asked may still happen. */
export class EngineUnavailable extends Error {
  override readonly name = 'EngineUnavailable';
}

/** Temporal takes no more questions about this thread right now. */
export class ThreadBusy extends EngineUnavailable {}

/** Threads as their workflows hold them. Every method rejects with {@link EngineUnavailable} while Temporal is away. */
export interface Threads {
  /** @param updateId the same id again gives the first outcome again, and nothing happens twice */
  chat(workflowId: string, turn: ChatTurn, updateId: string): Promise<Turn>;
  review(workflowId: string, turn: ReviewTurn, updateId: string): Promise<Turn>;
  /** The outcome of a turn that was taken before, once it has one; null where none was taken under this id. */
  outcome(workflowId: string, updateId: string): Promise<Turn | null>;
  /** Null: there is no such thread. */
  view(workflowId: string): Promise<ThreadView | null>;
  messages(workflowId: string): Promise<ThreadMessage[] | null>;
  /** Resolves where Temporal answers for the namespace. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface ThreadsOptions {
  address: string;
  namespace: string;
  taskQueue: string;
  log: Logger;
}

/** Longest wait in milliseconds until Temporal has taken a turn or answered a question; a busy one takes its time. */
const DEADLINE_MS = 30_000;
/** How long a Temporal that cannot be reached is tried, in milliseconds. */
const AWAY_MS = 2_000;
/** The same for a turn that has been taken. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 250;

/** The way to the threads' workflows. It connects with the first call, and again after Temporal was away. */
export function createThreads({ address, namespace, taskQueue, log }: ThreadsOptions): Threads {
  const connection = lazyConnection(address);
  const client = new Client({ connection, namespace });

  /** One call within the deadline; a fault that passes is tried again. */
  async function within<T>(operation: () => Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
    const began = Date.now();
    for (;;) {
      try {
        return await connection.withDeadline(began + deadlineMs, operation);
      } catch (error) {
        if (!passes(error) || Date.now() - began > AWAY_MS) throw error;
        await pause();
      }
    }
  }

  async function turn(start: () => Promise<WorkflowUpdateHandle<TurnOutcome>>): Promise<Turn> {
    try {
      const handle = await within(start);
      return { kind: 'done', outcome: await outcomeOf(handle) };
    } catch (error) {
      return readFault(error, log);
    }
  }

  /** Waits as long as the turn lasts; a client that goes away does not end it. */
  async function outcomeOf(handle: WorkflowUpdateHandle<TurnOutcome>): Promise<TurnOutcome> {
    let awaySince: number | null = null;
    for (;;) {
      try {
        return await handle.result();
      } catch (error) {
        if (!isAway(error)) throw error;
        awaySince ??= Date.now();
        if (Date.now() - awaySince > PATIENCE_MS) throw error;
        await pause();
      }
    }
  }

  async function query<T>(workflowId: string, name: string, ...args: string[]): Promise<T | null> {
    try {
      return await within(() => client.workflow.getHandle(workflowId).query<T, string[]>(name, ...args));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      // The thread was begun and its first message has not come to the worker yet.
      if (error instanceof QueryNotRegisteredError) return null;
      throw unavailable(error, log);
    }
  }

  return {
    chat: (workflowId, chat, updateId) =>
      turn(() =>
        client.workflow.startUpdateWithStart<ThreadWorkflow, TurnOutcome, [ChatTurn]>(CHAT_UPDATE, {
          updateId,
          args: [chat],
          waitForStage: 'ACCEPTED',
          startWorkflowOperation: new WithStartWorkflowOperation<ThreadWorkflow>(THREAD_WORKFLOW, {
            workflowId,
            taskQueue,
            args: [{}],
            workflowIdConflictPolicy: 'USE_EXISTING',
          }),
        }),
      ),
    review: (workflowId, review, updateId) =>
      turn(() =>
        client.workflow.getHandle(workflowId).startUpdate<TurnOutcome, [ReviewTurn]>(REVIEW_UPDATE, {
          updateId,
          args: [review],
          waitForStage: 'ACCEPTED',
        }),
      ),
    async outcome(workflowId, updateId) {
      const taken = await turn(async () => client.workflow.getHandle(workflowId).getUpdateHandle(updateId));
      if (taken.kind !== 'unknown_thread') return taken;
      // The engine knows the Updates of the current run, the thread those of earlier ones.
      const outcome = await query<LaterOutcome>(workflowId, OUTCOME_QUERY, updateId);
      if (outcome === null || outcome.kind === 'superseded') return outcome;
      return { kind: 'done', outcome };
    },
    view: (workflowId) => query<ThreadView>(workflowId, VIEW_QUERY),
    messages: (workflowId) => query<ThreadMessage[]>(workflowId, MESSAGES_QUERY),
    check: () =>
      within(() => connection.workflowService.describeNamespace({ namespace }), 2_000).then(() => undefined),
    close: () => connection.close(),
  };
}

/** Numbers of gRPC's status codes. */
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;

function readFault(error: unknown, log: Logger): Turn {
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    return { kind: 'refused', error: type ?? '', text: message };
  }
  if (error instanceof WorkflowNotFoundError) return { kind: 'unknown_thread' };
  if (codeOf(error) === RESOURCE_EXHAUSTED) return { kind: 'busy' };
  throw unavailable(error, log);
}

/** The run is about to be followed by the next one, or the connection has just broken. */
function passes(error: unknown): boolean {
  return isAway(error) || (codeOf(error) === RESOURCE_EXHAUSTED && /closing/i.test(String(detailsOf(error))));
}

function isAway(error: unknown): boolean {
  return codeOf(error) === UNAVAILABLE;
}

function unavailable(error: unknown, log: Logger): unknown {
  if (!(error instanceof ServiceError) && !isGrpcServiceError(error)) {
    const { name } = error instanceof Error ? error : { name: '' };
    if (name !== 'WorkflowUpdateRPCTimeoutOrCancelledError') return error;
  }
  const reason = detailsOf(error) ?? (error instanceof Error ? error.message : String(error));
  log.warn({ reason }, 'temporal');
  return codeOf(error) === RESOURCE_EXHAUSTED ? new ThreadBusy(reason) : new EngineUnavailable(reason);
}

function codeOf(error: unknown): number | undefined {
  return statusOf(error)?.code;
}

function detailsOf(error: unknown): string | undefined {
  return statusOf(error)?.details;
}

function statusOf(error: unknown): { code: number; details: string } | undefined {
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  return isGrpcServiceError(cause) ? { code: cause.code, details: cause.details } : undefined;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
