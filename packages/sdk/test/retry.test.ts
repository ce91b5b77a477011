import { expect, test } from 'vitest';
import { errorOf, retryAfterOf, versionOf } from '../src/http/errors.ts';
import { isPassing, retryDelayMs } from '../src/http/retry.ts';
import { ConnectionError, isOver } from '../src/index.ts';

const answer = (status: number, headers: Record<string, string> = {}, code?: string) =>
  errorOf({
    status,
    headers: new Headers(headers),
    body: code === undefined ? null : { error: 'Text', code },
    request: 'GET /',
  });

test('delays grow, end at eight seconds, and are spread out', () => {
  const delays = [0, 1, 2, 3, 4, 5, 20].map((attempt) =>
    retryDelayMs(new ConnectionError('away'), attempt, 1),
  );
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  expect(retryDelayMs(new ConnectionError('away'), 0, 0)).toBe(375);
});

test('Retry-After is never undercut, whether it is a number or a date', () => {
  expect(retryDelayMs(answer(503, { 'retry-after': '3' }), 0, 0)).toBe(3_000);
  const now = Date.parse('2026-01-01T00:00:00Z');
  const date = new Headers({ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' });
  expect(retryAfterOf(date, now)).toBe(7);
  expect(retryAfterOf(date, now + 60_000)).toBe(0);
  for (const none of ['soon', '1.5', '-3', '']) {
    expect(retryAfterOf(new Headers({ 'retry-after': none })), none).toBeNull();
  }
});

test('Retry-After of 0, or of a date that is past on the clock here, is no leave to come back at once', () => {
  expect(retryDelayMs(answer(429, { 'retry-after': '0' }), 0, 0)).toBe(375);
  const past = answer(503, { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' });
  expect(retryDelayMs(past, 1, 1)).toBe(500);
});

test.each([
  [429, 'rate_limited', true],
  [503, 'store_unavailable', true],
  [502, undefined, true],
  [504, undefined, true],
  [502, 'planner_failed', false],
  [500, 'internal', false],
  [409, 'version_conflict', false],
  [400, 'invalid_body', false],
])('%i %s passes by itself: %s', (status, code, passes) => {
  expect(isPassing(answer(status, {}, code))).toBe(passes);
});

test.each([
  ['"7"', 7],
  ['W/"7"', 7],
  ['7', null],
  ['"x"', null],
])('the version of ETag %s is %s', (etag, version) => {
  expect(versionOf(new Headers({ etag }))).toBe(version);
});

test('every status has its class, unknown ones a common one', () => {
  const names = [400, 401, 403, 404, 409, 422, 428, 429, 500, 502, 503, 507, 418].map(
    (status) => answer(status).name,
  );
  expect(names).toEqual([
    'BadRequestError',
    'AuthenticationError',
    'PermissionDeniedError',
    'NotFoundError',
    'ConflictError',
    'UnprocessableEntityError',
    'PreconditionRequiredError',
    'RateLimitError',
    'InternalServerError',
    'BadGatewayError',
    'ServiceUnavailableError',
    'InternalServerError',
    'StatusError',
  ]);
});

test('a paused task is not over', () => {
  expect(isOver({ status: 'TASK_STATUS_PAUSED' })).toBe(false);
  expect(isOver({ status: 'TASK_STATUS_TIMEOUT' })).toBe(true);
});
