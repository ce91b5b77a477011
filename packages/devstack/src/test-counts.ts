import { readFileSync } from 'node:fs';

/** How many checks passed and failed. */
export interface Counts {
  passed: number;
  failed: number;
}

export const NOTHING: Counts = { passed: 0, failed: 0 };

export function sum(all: Counts[]): Counts {
  return all.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), NOTHING);
}

/** The part of vitest's JSON report that is counted. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

/**
 * Counts a vitest run: its tests, and as a failure each file that failed without a failing test (it could not be
 * loaded, or a hook failed), a run that failed for a reason outside of them, and a run without any test.
 * @param file JSON report of vitest; missing where vitest did not come that far
 * @param succeeded vitest ended with exit code 0
 */
export function countSuites(file: string, succeeded: boolean): Counts {
  const report = readReport(file);
  if (!report) return { passed: 0, failed: 1 };
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + brokenFiles;
  const unexplained = failed === 0 && (!succeeded || report.numPassedTests === 0);
  return { passed: report.numPassedTests, failed: failed + (unexplained ? 1 : 0) };
}

/**
 * Counts a pytest run by its JUnit report. A skipped test has not passed; a run that failed for a reason outside
 * of its tests, or without any, is a failure.
 * @param file missing where pytest did not come that far
 * @param succeeded pytest ended with exit code 0
 */
export function countJunit(file: string, succeeded: boolean): Counts {
  const suite = /<testsuite [^>]*>/.exec(readText(file) ?? '')?.[0] ?? '';
  const number = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const failed = number('failures') + number('errors');
  const passed = Math.max(0, number('tests') - failed - number('skipped'));
  const unexplained = failed === 0 && (!succeeded || passed === 0);
  return { passed, failed: failed + (unexplained ? 1 : 0) };
}

function readReport(file: string): Report | undefined {
  const text = readText(file);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Report);
  } catch {
    return undefined;
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
