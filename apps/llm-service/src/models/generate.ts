import { cleanText, isBlank, type ModelChoice, type ModelUsage, utf8Bytes } from '@plangate/contracts';
import { APICallError, generateText, type LanguageModel, type LanguageModelUsage, RetryError } from 'ai';
import { ProviderFailure } from '../agent.ts';
import { BadResponse } from './guarded-fetch.ts';

/** One question to a model: what it is told to do, and what to do it with. */
export interface ModelPrompt {
  instructions: string;
  prompt: string;
  /** Longest text in UTF-8 bytes that counts as an answer. */
  maxBytes: number;
}

export interface ModelText {
  text: string;
  usage: ModelUsage;
}

/** Asks the model that `choice` wants. */
export type Generate = (choice: ModelChoice, prompt: ModelPrompt) => Promise<ModelText>;

/**
 * The AI SDK's own retries: twice, for 408, 409, 429, 5xx and connections that broke, with `Retry-After` (up to
 * 60 s) or else after 2 and 4 s.
 */
const RETRIES = 2;

/** How every model is called: the limit covers retries and waits. */
export function callLimits(timeoutSeconds: number): { maxRetries: number; timeout: number } {
  return { maxRetries: RETRIES, timeout: Math.ceil(timeoutSeconds * 1000) };
}

/**
 * One answer of a model as clean text, with its usage; the limit covers retries and waits.
 * @throws {ProviderFailure} for everything that `contract/plan-review.md §5` calls a failure
 */
export async function generate(
  model: LanguageModel,
  names: Pick<ModelUsage, 'model' | 'provider'>,
  { instructions, prompt, maxBytes }: ModelPrompt,
  timeoutSeconds: number,
): Promise<ModelText> {
  const result = await generateText({
    model,
    instructions,
    prompt,
    ...callLimits(timeoutSeconds),
  }).catch((error: unknown) => {
    throw asFailure(error);
  });
  if (result.finishReason !== 'stop' && result.finishReason !== 'other') {
    throw new ProviderFailure(`finish reason ${result.finishReason}`);
  }
  const text = cleanText(result.text);
  if (isBlank(text)) throw new ProviderFailure('empty text');
  if (utf8Bytes(text) > maxBytes) throw new ProviderFailure('text too long');
  return { text, usage: usageOf(names, result.usage) };
}

/** What a call used, as far as the provider says so. */
export function usageOf(
  names: Pick<ModelUsage, 'model' | 'provider'>,
  { inputTokens, outputTokens }: LanguageModelUsage,
): ModelUsage {
  return { ...names, input_tokens: tokens(inputTokens), output_tokens: tokens(outputTokens) };
}

/** A provider may report nothing, or nonsense. */
function tokens(count: number | undefined): number {
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : 0;
}

/** The failure that an error of the AI SDK is, without any text of the provider. */
export function asFailure(error: unknown): ProviderFailure {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (APICallError.isInstance(last)) {
    if (last.cause instanceof BadResponse) return new ProviderFailure(last.cause.message, last.statusCode);
    return new ProviderFailure(
      last.statusCode === undefined ? 'no connection' : 'bad response',
      last.statusCode,
    );
  }
  if (last instanceof BadResponse) return new ProviderFailure(last.message);
  const name = last instanceof Error ? last.name : 'unknown';
  return new ProviderFailure(name === 'TimeoutError' || name === 'AbortError' ? 'timed out' : name);
}
