import { ConflictError, PlangateError, StatusError, TaskEndedError } from '@plangate/sdk';
import { describeEnd } from './describe.ts';
import { UsageError } from './exit-codes.ts';
import { plain } from './output.ts';

/** What went wrong and what to do about it on the command line; `''` where all is said. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StatusError) {
    const request = error.requestId ? ` [request ${error.requestId}]` : '';
    return [`${plain(error.text)} (${error.status} ${error.code})${request}`, hintFor(error)]
      .filter((line) => line !== '')
      .join('\n');
  }
  if (error instanceof TaskEndedError) return describeEnd(error.task);
  const { message } = error;
  return plain(
    error instanceof PlangateError ? message.replace('baseUrl', '--url or PLANGATE_URL') : message,
  );
}

/** The same for scripts: the fields of the error body where the gateway answered. */
export function explainAsJson(error: unknown): Record<string, unknown> {
  if (error instanceof StatusError) {
    const { status, requestId, body } = error;
    return { ...body, error: error.text, code: error.code, status, request_id: requestId };
  }
  const isUsage = error instanceof UsageError || error instanceof TypeError;
  const code = error instanceof PlangateError ? error.name : isUsage ? 'usage' : 'command_failed';
  return { error: explain(error), code };
}

function hintFor(error: StatusError): string {
  if (error instanceof ConflictError && error.code === 'version_conflict' && error.currentVersion !== null) {
    return `It is at version ${error.currentVersion} now: read it with plangate review get, and decide with --if-match ${error.currentVersion}.`;
  }
  return HINTS[error.code] ?? '';
}

/** By the gateway's slug. */
const HINTS: Record<string, string> = {
  authentication_required: 'Set PLANGATE_API_KEY; npm run keys -- create makes a key where the gateway runs.',
  invalid_token: 'The key is unknown, expired or revoked; npm run keys -- create makes another.',
  forbidden_owner: 'Use a key of its owner.',
  forbidden_tenant: 'Use a key of its tenant.',
  task_not_found: 'plangate tasks shows yours.',
  review_not_found: 'Only tasks submitted with --review have one, and a closed one is kept for minutes only.',
  max_rounds: 'Approve, edit or reject the plan.',
  planner_failed: 'Nothing has changed and no round is used: try again.',
};
