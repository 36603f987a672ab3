import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{test,examples}/**/*.test.ts'],
    exclude: ['test/long/**', 'test/runner/**'],
    // Files share a worker and its loaded modules. Reloading them for each file would take a quarter of the total time.
    isolate: false,
    // More than cores, because tests spend much time waiting for processes that they start.
    maxWorkers: availableParallelism() + 1,
    // Tests keep all cores busy, so garbage collection in several threads only adds overhead.
    execArgv: ['--single-threaded-gc'],
    // Files are transformed only when they have changed.
    experimental: { fsModuleCache: true },
    // Long enough for a busy machine, and short enough to detect a hang.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    setupFiles: ['test/check-answers.ts'],
    globalSetup: [
      'test/temporary-folder.ts',
      'test/plain-git.ts',
      'test/clients/compile-official.ts',
      'test/e2e/build-once.ts',
    ],
    coverage: {
      provider: 'v8',
      reportOnFailure: true,
      include: ['src/**/*.ts'],
      exclude: ['src/**/generated/**'],
      reporter: [['text', { skipFull: true }], 'text-summary'],
    },
  },
})
