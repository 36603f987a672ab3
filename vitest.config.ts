import { defineConfig } from 'vitest/config'

const common = {
  // Files share a worker and what it has loaded: loading everything again for each of them takes a quarter of the time.
  isolate: false,
  // A busy machine may take its time; what never comes is still noticed.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  // Both cores are busy with tests, so collecting in several threads only adds work.
  execArgv: ['--single-threaded-gc'],
  setupFiles: ['test/check-answers.ts'],
}

export default defineConfig({
  test: {
    // One more than Vitest's own choice on two cores: much of a test is waiting.
    maxWorkers: '100%',
    globalSetup: ['test/temporary-folder.ts', 'test/clients/compile-official.ts'],
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
