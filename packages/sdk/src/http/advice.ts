import type { Failure } from './failure.ts';

/** What a person can do about an answer that is no success; `''` where the gateway's own words say it. */
export function adviceFor({ status, headers, body }: Failure): string {
  const advice = (body && BY_CODE[body.code]) ?? BY_STATUS[status] ?? '';
  const version = body?.['version'];
  const retryAfter = headers.get('retry-after');
  return advice
    .replace('{version}', typeof version === 'number' ? String(version) : 'another one')
    .replace('{soon}', retryAfter && /^\d+$/.test(retryAfter) ? `in ${retryAfter} s` : 'soon');
}

const READ_AGAIN = 'Read it with review.get() and decide on what it shows.';

/** By the gateway's slug; they do not change. */
const BY_CODE: Record<string, string> = {
  authentication_required: 'Give the client an apiKey or a token.',
  invalid_token:
    'The key or token is unknown, expired or revoked: `npm run keys -- create` where the gateway runs makes a new key.',
  origin_not_allowed: 'Name the origin of the page in GATEWAY_ALLOWED_ORIGINS, or turn authentication on.',
  host_not_allowed: 'Address the gateway as localhost, or turn authentication on.',
  forbidden_owner: "Use a credential of the task's owner.",
  forbidden_tenant: "Use a credential of the task's tenant.",
  task_not_found: 'Check the id, and that the credential is that of its owner.',
  session_not_found: 'Check the id, and that the credential is that of its owner.',
  review_not_found:
    'Submit the task with context.require_review and wait with review.waitUntilReady(); a closed review is kept for minutes only.',
  version_conflict: `The review is at version {version} now. ${READ_AGAIN}`,
  feedback_in_flight: `Its answer comes within a minute. ${READ_AGAIN}`,
  max_rounds: 'Approve, edit or reject the plan.',
  review_approved: 'The decision stands; cancel the task to stop the research.',
  review_closed: 'The decision stands; submit the task again to review a new plan.',
  precondition_required: 'Pass the state that was read, or its version.',
  planner_failed: 'Nothing has changed and no round is used: send the feedback again.',
  idempotency_running: 'It is still being worked on: ask again {soon} with the same idempotencyKey.',
  too_many_streams: 'Close a stream, or come back {soon}.',
  store_unavailable: 'Nothing is lost; try again {soon}.',
  engine_unavailable: 'Nothing is lost; try again {soon}.',
};

const BY_STATUS: Record<number, string> = {
  413: 'Send less.',
  422: 'Use another idempotencyKey for another request.',
  429: 'Come back {soon}.',
  500: "The gateway's log has the reason under this request.",
  502: 'Something between here and the gateway does not reach it: check baseUrl and the proxy.',
  503: 'Try again {soon}.',
  504: 'Something between here and the gateway does not reach it: check baseUrl and the proxy.',
};
