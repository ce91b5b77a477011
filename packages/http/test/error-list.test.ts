import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
/** `refuse(409, 'slug'` and `new HttpError(409, 'slug'`. */
const RAISED = /(?:refuse|HttpError)\(\s*(\d{3}),\s*'([a-z_]+)'/g;
/** The same with a code that is put together or handed in; what only hands on a refusal is none. */
const INDIRECT = /(?:\brefuse|new HttpError)\((?!\s*\d{3},\s*'|\s*refusal\.)\s*\d{3},/g;
/** Codes in the table of faults that Node's parser finds. */
const BELOW_HTTP = /\[(\d{3}), '([a-z_]+)', '/g;
const LISTED = /^\| `([a-z_]+)` \| (\d{3}) \|/gm;

/** Where codes are put together or handed in, how often, and which they can be. */
const INDIRECTLY: Record<string, { calls: number; codes: string[] }> = {
  'apps/gateway/src/routes/request.ts': {
    calls: 3,
    codes: [
      'invalid_task_id',
      'invalid_workflow_id',
      'invalid_include_payload',
      'invalid_limit',
      'invalid_offset',
      'invalid_wait',
    ],
  },
  'apps/gateway/src/routes/review-act.ts': {
    calls: 1,
    codes: [
      'invalid_body',
      'invalid_action',
      'message_required',
      'message_too_long',
      'plan_required',
      'plan_too_long',
      'reason_too_long',
      'invalid_seconds',
    ],
  },
  'packages/http/src/auth/skip.ts': { calls: 1, codes: ['invalid_user_id', 'invalid_tenant_id'] },
  'packages/tasks/src/submission.ts': {
    calls: 1,
    codes: [
      'invalid_body',
      'query_required',
      'query_too_long',
      'invalid_session_id',
      'invalid_research_strategy',
      'invalid_mode',
      'invalid_model_tier',
      'invalid_max_concurrent_agents',
      'invalid_max_iterations',
    ],
  },
};

const files = globSync(['packages/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: PROJECT });
const read = (file: string) => readFileSync(`${PROJECT}${file}`, 'utf8');
const pairs = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, status, code]) => `${code} ${status}`);
const listed = new Set(
  [...read('docs/errors.md').matchAll(LISTED)].map(([, code, status]) => `${code} ${status}`),
);
const raised = files.flatMap((file) => pairs(read(file), RAISED));
const made = Object.values(INDIRECTLY).flatMap(({ codes }) => codes.map((code) => `${code} 400`));
const parsed = pairs(read('packages/http/src/server.ts'), BELOW_HTTP);

test('every error code that the code raises stands in docs/errors.md with its status', () => {
  expect(raised.length).toBeGreaterThan(30);
  expect(parsed.length).toBeGreaterThan(1);
  const all = new Set([...raised, ...made, ...parsed]);
  expect([...all].filter((entry) => !listed.has(entry))).toEqual([]);
});

test('every code in docs/errors.md can be answered', () => {
  const all = new Set([...raised, ...made, ...parsed]);
  expect([...listed].filter((entry) => !all.has(entry))).toEqual([]);
});

test('a code that is put together or handed in is one of those that this test knows', () => {
  const calls = files.flatMap((file) => {
    const found = read(file).match(INDIRECT) ?? [];
    return found.length > 0 ? [[file, found.length]] : [];
  });
  const known = Object.entries(INDIRECTLY).map(([file, { calls }]) => [file, calls]);
  expect(Object.fromEntries(calls)).toEqual(Object.fromEntries(known));
});
