import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const reportFile = process.env['CI_TEST_REPORT'];

export default defineConfig({
  // Packages of the workspace are tested from their sources, so a stale build cannot pass. The
  // condition has a name of ours: published packages use the plain `source` for theirs.
  resolve: { conditions: ['@sameriver/source'] },
  ssr: {
    resolve: { conditions: ['@sameriver/source'], externalConditions: ['@sameriver/source'] },
  },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: Math.min(2, availableParallelism()),
    // Hang detectors, not expectations: a child process under load may take seconds to start.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    passWithNoTests: true,
    reporters: reportFile ? ['default', 'json'] : ['default'],
    ...(reportFile ? { outputFile: { json: reportFile } } : {}),
  },
});
