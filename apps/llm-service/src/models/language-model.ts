import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { extractReasoningMiddleware, type LanguageModel, wrapLanguageModel } from 'ai';
import { guardFetch } from './guarded-fetch.ts';
import type { Selection } from './select.ts';

/**
 * The AI SDK model of a selection. OpenAI is spoken in its chat completions format. Servers of local models put
 * reasoning into the text between `<think>` tags; it becomes a reasoning part, which nobody reads.
 */
export function languageModel(
  { name, settings, modelId, apiKey }: Extract<Selection, { kind: 'model' }>,
  fetch: typeof globalThis.fetch,
): LanguageModel {
  const options = {
    fetch: guardFetch(fetch),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(settings.base_url === undefined ? {} : { baseURL: settings.base_url }),
  };
  switch (settings.kind) {
    case 'openai':
      return createOpenAI(options).chat(modelId);
    case 'anthropic':
      return createAnthropic(options)(modelId);
    case 'google':
      return createGoogle(options)(modelId);
    case 'openai-compatible':
      return wrapLanguageModel({
        model: createOpenAICompatible({ ...options, name, baseURL: settings.base_url ?? '' }).chatModel(
          modelId,
        ),
        middleware: extractReasoningMiddleware({ tagName: 'think' }),
      });
  }
}
