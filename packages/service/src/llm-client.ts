import {
  AnswerAnswer,
  type AnswerRequest,
  ChatAnswer,
  type ChatRequest,
  DecomposeAnswer,
  type DecomposeRequest,
  ErrorBody,
  MissingKey,
  MODELS_NOT_CONFIGURED,
  PlanAnswer,
  type PlanRequest,
  WriteAnswer,
  type WriteRequest,
} from '@plangate/contracts';
import type { z } from 'zod';

/**
 * A call to llm-service that gave no usable answer.
 * `away`: it could not be reached; `failed`: the provider failed; `refused`: asking again cannot help.
 */
export class LlmServiceError extends Error {
  override readonly name = 'LlmServiceError';
  readonly kind: 'away' | 'failed' | 'refused';
  /** HTTP status of the answer; none where there was no answer. */
  readonly status: number | undefined;
  /** Where it was refused for want of a key. */
  readonly missing: MissingKey | undefined;

  constructor(kind: LlmServiceError['kind'], message: string, status?: number, missing?: MissingKey) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.missing = missing;
  }
}

/** The trace that a call belongs to, handed on as it came (W3C Trace Context §3). */
export interface TraceHeaders {
  traceparent: string;
  tracestate?: string;
}

export interface LlmClient {
  plan(request: PlanRequest, signal?: AbortSignal, trace?: TraceHeaders): Promise<PlanAnswer>;
  decompose(request: DecomposeRequest, signal?: AbortSignal): Promise<DecomposeAnswer>;
  write(request: WriteRequest, signal?: AbortSignal): Promise<WriteAnswer>;
  answer(request: AnswerRequest, signal?: AbortSignal): Promise<AnswerAnswer>;
  chat(request: ChatRequest, signal?: AbortSignal): Promise<ChatAnswer>;
}

/**
 * The way to llm-service. Its answers are not trusted: they are checked against the same schemas that it serves.
 * @param baseUrl such as `http://127.0.0.1:8000`
 * @param timeoutSeconds longest wait for one answer
 * @throws {LlmServiceError} from every method
 */
export function createLlmClient(baseUrl: string, timeoutSeconds: number): LlmClient {
  async function call<T extends z.ZodType>(
    path: string,
    schema: T,
    request: unknown,
    signal?: AbortSignal,
    trace?: TraceHeaders,
  ): Promise<z.infer<T>> {
    const limit = AbortSignal.timeout(timeoutSeconds * 1_000);
    let response: Response;
    let body: unknown;
    try {
      response = await fetch(new URL(path, baseUrl), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headersOf(trace) },
        body: JSON.stringify(request),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      body = await response.json();
    } catch (error) {
      throw new LlmServiceError(limit.aborted ? 'failed' : 'away', `${path}: ${reasonOf(error)}`);
    }
    if (!response.ok) {
      const parsed = ErrorBody.safeParse(body);
      const reason = parsed.success ? parsed.data.error : 'no reason given';
      throw new LlmServiceError(
        kindOf(response.status, parsed.data?.code),
        `${path}: ${response.status} ${reason}`,
        response.status,
        MissingKey.safeParse(body).data,
      );
    }
    const answer = schema.safeParse(body);
    if (answer.success) return answer.data;
    const [issue] = answer.error.issues;
    throw new LlmServiceError('failed', `${path}: bad answer at ${issue?.path.join('.')}: ${issue?.message}`);
  }

  return {
    plan: (request, signal, trace) => call('/agent/research-plan', PlanAnswer, request, signal, trace),
    decompose: (request, signal) => call('/agent/decompose', DecomposeAnswer, request, signal),
    write: (request, signal) => call('/agent/write', WriteAnswer, request, signal),
    answer: (request, signal) => call('/agent/answer', AnswerAnswer, request, signal),
    chat: (request, signal) => call('/agent/chat', ChatAnswer, request, signal),
  };
}

function headersOf(trace: TraceHeaders | undefined): Record<string, string> {
  if (!trace) return {};
  const { traceparent, tracestate } = trace;
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

function kindOf(status: number, code: string | undefined): LlmServiceError['kind'] {
  if (code === MODELS_NOT_CONFIGURED.code || (status >= 400 && status < 500)) return 'refused';
  return status === 503 ? 'away' : 'failed';
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/**
 * Resolves where llm-service answers that it runs.
 * @throws where it cannot be reached, takes more than 1.5 s, or answers with another status than 2xx
 */
export async function requireLlmService(url: string): Promise<void> {
  const response = await fetch(new URL('/health', url), { signal: AbortSignal.timeout(1_500) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`status ${response.status}`);
}
