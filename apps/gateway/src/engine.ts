import { RESEARCH_WORKFLOW, TASK_WORKFLOW, type TaskInput, type WorkflowId } from '@plangate/contracts';
import type { TraceHeaders } from '@plangate/service';
import { lazyConnection } from '@plangate/service/temporal';
import type { TaskKind } from '@plangate/tasks';
import {
  Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Logger } from 'pino';

/** Longest wait for one answer of Temporal, in milliseconds (contract/plan-review.md §2.2). */
const DEADLINE_MS = 2_000;

/** `refused`: certainly not started. `unknown`: no answer that says so. */
export type StartOutcome = 'started' | 'refused' | 'unknown';
/** `not_found`: there is no such run, or it is over. */
export type SignalOutcome = 'sent' | 'not_found' | 'unreachable';
export type RunState = 'running' | 'over' | 'none' | 'unreachable';

/** All that the gateway asks of Temporal. No method throws: what is not known is an outcome too. */
export interface Engine {
  /** @param trace of the request that asked for it, kept in the memo of the run */
  startTask(kind: TaskKind, input: TaskInput, trace?: TraceHeaders): Promise<StartOutcome>;
  signal(workflowId: WorkflowId, signal: string, payload: unknown): Promise<SignalOutcome>;
  describeRun(workflowId: WorkflowId): Promise<RunState>;
  /** Resolves where Temporal answers for the namespace, else rejects. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineOptions {
  address: string;
  namespace: string;
  taskQueue: string;
  log: Logger;
  deadlineMs?: number;
}

/**
 * The way to Temporal. It connects with the first call, and again after Temporal was away. The SDK's own retries
 * are off: with them nobody could tell whether an earlier attempt had reached the server.
 */
export function createEngine(options: EngineOptions): Engine {
  const { namespace, taskQueue, log, deadlineMs = DEADLINE_MS } = options;
  const connection = lazyConnection(options.address);
  const client = new Client({ connection, namespace });

  /** One call under one deadline; a broken connection is tried once more. */
  async function call<T>(operation: () => Promise<T>): Promise<Called<T>> {
    const deadline = Date.now() + deadlineMs;
    let maySent = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return { ok: true, value: await connection.withDeadline(deadline, operation) };
      } catch (error) {
        const fault = faultOf(error);
        maySent ||= fault === 'unknown';
        if (attempt > 1 || !isBroken(error)) return { ok: false, error, fault: maySent ? 'unknown' : fault };
      }
    }
  }

  return {
    async startTask(kind, input, trace) {
      const called = await call(() =>
        client.workflow.start(kind === 'research' ? RESEARCH_WORKFLOW : TASK_WORKFLOW, {
          workflowId: input.workflow_id,
          taskQueue,
          args: [input],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          ...(trace ? { memo: { traceparent: trace.traceparent } } : {}),
        }),
      );
      if (called.ok || called.error instanceof WorkflowExecutionAlreadyStartedError) return 'started';
      log.warn({ workflow_id: input.workflow_id, reason: reasonOf(called.error) }, 'task not started');
      return called.fault === 'unknown' ? 'unknown' : 'refused';
    },

    async signal(workflowId, signal, payload) {
      const called = await call(() => client.workflow.getHandle(workflowId).signal(signal, payload));
      if (called.ok) return 'sent';
      if (called.error instanceof WorkflowNotFoundError) return 'not_found';
      log.warn({ workflow_id: workflowId, reason: reasonOf(called.error) }, 'signal not delivered');
      return 'unreachable';
    },

    async describeRun(workflowId) {
      const called = await call(() => client.workflow.getHandle(workflowId).describe());
      if (called.ok) return called.value.status.name === 'RUNNING' ? 'running' : 'over';
      return called.error instanceof WorkflowNotFoundError ? 'none' : 'unreachable';
    },

    async check() {
      const called = await call(() => connection.workflowService.describeNamespace({ namespace }));
      if (!called.ok) throw called.error;
    },

    close: () => connection.close(),
  };
}

type Called<T> = { ok: true; value: T } | { ok: false; error: unknown; fault: Fault };
/** `not_sent` and `answered`: the server did not do it. `unknown`: it may have. */
type Fault = 'not_sent' | 'answered' | 'unknown';

/** Numbers of gRPC's status codes. */
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
const ANSWERS: ReadonlySet<number> = new Set([
  3, // INVALID_ARGUMENT
  5, // NOT_FOUND
  7, // PERMISSION_DENIED
  9, // FAILED_PRECONDITION
  12, // UNIMPLEMENTED
  16, // UNAUTHENTICATED
]);
/** How grpc-js says that a call has never left: it has no connection to send it on. */
const NOT_SENT = /^(No connection established|Name resolution failed)|Waiting for LB pick$/;

function faultOf(error: unknown): Fault {
  const status = statusOf(error);
  if (!status) return error instanceof ServiceError ? 'unknown' : 'answered';
  const { code, details } = status;
  if ((code === UNAVAILABLE || code === DEADLINE_EXCEEDED) && NOT_SENT.test(details)) return 'not_sent';
  return ANSWERS.has(code) ? 'answered' : 'unknown';
}

function isBroken(error: unknown): boolean {
  return statusOf(error)?.code === UNAVAILABLE;
}

function statusOf(error: unknown): { code: number; details: string } | undefined {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) ? { code: cause.code, details: cause.details } : undefined;
}

function reasonOf(error: unknown): string {
  return statusOf(error)?.details ?? (error instanceof Error ? error.message : String(error));
}
