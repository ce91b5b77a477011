import { defineConfig } from 'vitest/config';

// Suites start real Redis, Temporal and product processes on free ports of their own; two files at a time suit a small machine.
export default defineConfig({
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'packages/*/src/**/*.test.ts',
      'apps/*/test/**/*.test.ts',
      'apps/*/src/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    globalSetup: ['packages/devstack/src/vitest-temporal.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
  },
});
