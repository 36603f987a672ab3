import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const common = {
  // Files share a worker and its loaded modules. Reloading them for each file would take a quarter of the total time.
  isolate: false,
  // Long enough for a busy machine, and short enough to detect a hang.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  // Tests keep all cores busy, so garbage collection in several threads only adds overhead.
  execArgv: ['--single-threaded-gc'],
  setupFiles: ['test/check-answers.ts'],
  // Files are transformed only when they have changed.
  experimental: { fsModuleCache: true },
}

export default defineConfig({
  test: {
    // More than cores, because tests spend much time waiting for processes that they start.
    maxWorkers: availableParallelism() + 1,
    globalSetup: ['test/temporary-folder.ts', 'test/plain-git.ts', 'test/clients/compile-official.ts'],
    coverage: {
      provider: 'v8',
      reportOnFailure: true,
      include: ['src/**/*.ts'],
      exclude: ['src/**/generated/**'],
      reporter: [['text', { skipFull: true }], 'text-summary'],
    },
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/long/**', 'test/runner/**'],
        },
      },
      {
        test: {
          ...common,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts', 'examples/**/*.test.ts'],
          globalSetup: ['test/e2e/build-once.ts'],
        },
      },
    ],
  },
})
