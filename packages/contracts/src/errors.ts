import { z } from 'zod';

/** The one error shape (`contract/plan-review.md` §0): a text for people, a slug for programs, fields where useful. */
export const ErrorBody = z.looseObject({ error: z.string(), code: z.string() });
export type ErrorBody = z.infer<typeof ErrorBody>;

/** A refusal as a value: what the pure parts return and the HTTP parts send. */
export interface Refusal {
  ok: false;
  /** HTTP status that the contract gives this refusal. */
  status: number;
  /** Slug for programs, listed in `docs/errors.md`. */
  code: string;
  /** The contract's exact text. */
  error: string;
  /** Further fields of the error body, such as `limit` or `version`. */
  fields?: Record<string, unknown>;
}

/** Builds a {@link Refusal}. */
export function refuse(
  status: number,
  code: string,
  error: string,
  fields?: Record<string, unknown>,
): Refusal {
  return fields ? { ok: false, status, code, error, fields } : { ok: false, status, code, error };
}

/** 503 of every route that needs Redis while it cannot be reached (§6). */
export const STORE_UNAVAILABLE = refuse(503, 'store_unavailable', 'Review store unavailable');
/** 503 of submit, pause, resume while Temporal cannot be reached (§6). */
export const ENGINE_UNAVAILABLE = refuse(503, 'engine_unavailable', 'Task engine unavailable');
/** What the 503 below says besides its text: the provider, and the environment variable that is not set. */
export const MissingKey = z.object({
  provider: z.string().regex(/^[a-z0-9-]{1,64}$/),
  missing_key: z.string().regex(/^\w{1,128}$/),
});
export type MissingKey = z.infer<typeof MissingKey>;
/** 503 of llm-service where the chosen provider has no key (§5): asking again cannot help. */
export const MODELS_NOT_CONFIGURED = refuse(503, 'llm_not_configured', 'LLM providers not configured');
