import type { ReviewRequest, ToolCall } from '@plangate/contracts';
import { ALLOWED_DECISIONS, descriptionOf } from './texts.ts';

/** The payload `pending_review` of these calls, in their order (contract/tool-approval.md §2). */
export function buildReviewRequest(calls: readonly Pick<ToolCall, 'name' | 'args'>[]): ReviewRequest {
  return {
    action_requests: calls.map(({ name, args }) => ({
      name,
      // A copy: what was shown can be compared with what would run.
      args: JSON.parse(JSON.stringify(args)),
      description: descriptionOf(name),
    })),
    review_configs: calls.map(({ name }) => ({
      action_name: name,
      allowed_decisions: [...ALLOWED_DECISIONS],
    })),
  };
}
