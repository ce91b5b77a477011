import type {
  AnswerAnswer,
  AnswerRequest,
  ChatAnswer,
  ChatRequest,
  DecomposeAnswer,
  DecomposeRequest,
  MissingKey,
  PlanAnswer,
  PlanRequest,
  WriteAnswer,
  WriteRequest,
} from '@plangate/contracts';

/** What the service can be asked (`contract/plan-review.md §5`, chat: `contract/tool-approval.md §4`); a model or the offline provider stands behind it. */
export interface Agent {
  plan(request: PlanRequest): Promise<PlanAnswer>;
  decompose(request: DecomposeRequest): Promise<DecomposeAnswer>;
  write(request: WriteRequest): Promise<WriteAnswer>;
  answer(request: AnswerRequest): Promise<AnswerAnswer>;
  /** The next message of a conversation in which tools may be called; it never runs one. */
  chat(request: ChatRequest): Promise<ChatAnswer>;
}

/** The chosen provider has no key, or a model was asked for by name where no provider has one: 503. */
export class NotConfigured extends Error {
  override readonly name = 'NotConfigured';
  readonly missing: MissingKey | undefined;

  constructor(message: string, missing?: MissingKey) {
    super(message);
    this.missing = missing;
  }
}

/** The request asks for a provider that the settings do not name: 400. */
export class UnknownProvider extends Error {
  override readonly name = 'UnknownProvider';
}

/** A call that gave nothing usable: 502. `reason` is for the log and holds no text of the provider. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
  readonly reason: string;
  readonly status: number | undefined;

  constructor(reason: string, status?: number) {
    super(`provider failed: ${reason}`);
    this.reason = reason;
    this.status = status;
  }
}
