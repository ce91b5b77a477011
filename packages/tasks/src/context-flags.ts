import { type Refusal, refuse } from '@plangate/contracts';

export interface ContextFlags {
  ok: true;
  forceResearch: boolean;
  /** Null: nobody reviews the plan. */
  reviewTimeoutSeconds: number | null;
  /** Undefined: the caller left it open. */
  enableVerification: boolean | undefined;
  enableCitations: boolean | undefined;
}

export interface TimeoutLimits {
  defaultTimeoutSeconds: number;
  maxTimeoutSeconds: number;
}

const BOOLEANS = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  ['1', true],
  [false, false],
  ['false', false],
  ['0', false],
]);
const FLAGS = [
  'force_research',
  'require_review',
  'force_swarm',
  'enable_verification',
  'enable_citations',
] as const;
type Flag = (typeof FLAGS)[number];

/** Whether the plan waits for a person, and the other switches of the context (`contract/plan-review.md` §1). */
export function readContextFlags(
  context: Record<string, unknown>,
  limits: TimeoutLimits,
): ContextFlags | Refusal {
  const flags: Partial<Record<Flag, boolean>> = {};
  for (const key of FLAGS) {
    if (!Object.hasOwn(context, key)) continue;
    const value = BOOLEANS.get(context[key]);
    if (value === undefined) return refuse(400, 'invalid_flag', `${key} must be true or false`);
    flags[key] = value;
  }
  const wanted = readReviewWanted(context, flags);
  if (typeof wanted !== 'boolean') return wanted;
  const timeout = readTimeout(context, limits);
  if (typeof timeout !== 'number') return timeout;
  return {
    ok: true,
    forceResearch: wanted || flags.force_research === true,
    reviewTimeoutSeconds: wanted ? timeout : null,
    enableVerification: flags.enable_verification,
    enableCitations: flags.enable_citations,
  };
}

function readReviewWanted(
  context: Record<string, unknown>,
  flags: Partial<Record<Flag, boolean>>,
): boolean | Refusal {
  let wanted = flags.require_review;
  if (Object.hasOwn(context, 'review_plan')) {
    const plan = context['review_plan'];
    if (plan !== 'manual' && plan !== 'auto') {
      return refuse(400, 'invalid_review_plan', "review_plan must be 'manual' or 'auto'");
    }
    const manual = plan === 'manual';
    if (wanted !== undefined && wanted !== manual) {
      return refuse(400, 'contradicting_flags', 'review_plan contradicts require_review');
    }
    wanted = manual;
  }
  if (!wanted) return false;
  if (flags.force_research === false) {
    return refuse(400, 'contradicting_flags', 'require_review needs force_research');
  }
  if (flags.force_swarm) return refuse(400, 'contradicting_flags', 'force_swarm cannot be reviewed');
  return true;
}

/** Seconds; checked even where nobody reviews, because a bad value is never passed over. */
function readTimeout(context: Record<string, unknown>, limits: TimeoutLimits): number | Refusal {
  if (!Object.hasOwn(context, 'review_timeout')) return limits.defaultTimeoutSeconds;
  const value = context['review_timeout'];
  const seconds = typeof value === 'string' && /^\s*[0-9]+\s*$/.test(value) ? Number(value) : value;
  if (
    typeof seconds === 'number' &&
    Number.isInteger(seconds) &&
    seconds >= 1 &&
    seconds <= limits.maxTimeoutSeconds
  ) {
    return seconds;
  }
  return refuse(
    400,
    'invalid_review_timeout',
    `review_timeout out of range (1..${limits.maxTimeoutSeconds})`,
  );
}
