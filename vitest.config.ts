import { defineConfig } from 'vitest/config'

// A busy machine may take its time; what never comes is still noticed.
const common = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  setupFiles: ['test/check-answers.ts'],
}

export default defineConfig({
  test: {
    globalSetup: ['test/temporary-folder.ts', 'test/clients/compile-official.ts'],
    projects: [
      { test: { ...common, name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**', 'test/long/**'] } },
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
