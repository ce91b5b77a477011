import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { countJunit, countSuites } from '../src/test-counts.ts';

const folder = mkdtempSync(join(tmpdir(), 'plangate-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['all passed', 3, 0, [], true, { passed: 3, failed: 0 }],
  ['a failing test counts once', 2, 1, [['failed']], false, { passed: 2, failed: 1 }],
  ['a file that could not be loaded is a failure', 2, 0, [[]], false, { passed: 2, failed: 1 }],
  ['a hook that failed is a failure', 2, 0, [['passed', 'skipped']], false, { passed: 2, failed: 1 }],
  ['an error outside of the tests is a failure', 2, 0, [], false, { passed: 2, failed: 1 }],
  ['no test at all is a failure', 0, 0, [], true, { passed: 0, failed: 1 }],
])('%s', (_name, numPassedTests, numFailedTests, failedFiles, succeeded, expected) => {
  const file = join(folder, 'results.json');
  const testResults = failedFiles.map((statuses) => ({
    status: 'failed',
    assertionResults: statuses.map((status) => ({ status })),
  }));
  writeFileSync(file, JSON.stringify({ numPassedTests, numFailedTests, testResults }));
  expect(countSuites(file, succeeded)).toEqual(expected);
});

test('a run that wrote no report is a failure', () => {
  expect(countSuites(join(folder, 'none.json'), true)).toEqual({ passed: 0, failed: 1 });
});

test.each([
  ['all passed', 'errors="0" failures="0" skipped="0" tests="3"', true, { passed: 3, failed: 0 }],
  ['a failing test counts', 'errors="0" failures="1" skipped="0" tests="3"', false, { passed: 2, failed: 1 }],
  [
    'a fixture that failed counts',
    'errors="2" failures="0" skipped="0" tests="3"',
    false,
    { passed: 1, failed: 2 },
  ],
  [
    'a skipped test has not passed',
    'errors="0" failures="0" skipped="1" tests="3"',
    true,
    { passed: 2, failed: 0 },
  ],
  [
    'an error outside of the tests is a failure',
    'errors="0" failures="0" skipped="0" tests="3"',
    false,
    { passed: 3, failed: 1 },
  ],
  [
    'no test at all is a failure',
    'errors="0" failures="0" skipped="0" tests="0"',
    false,
    { passed: 0, failed: 1 },
  ],
])('pytest: %s', (_name, counts, succeeded, expected) => {
  const file = join(folder, 'python.xml');
  writeFileSync(
    file,
    `<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" ${counts} time="1.2">`,
  );
  expect(countJunit(file, succeeded)).toEqual(expected);
});

test('pytest: a run that wrote no report is a failure', () => {
  expect(countJunit(join(folder, 'none.xml'), true)).toEqual({ passed: 0, failed: 1 });
});
