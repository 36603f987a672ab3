import { defineConfig } from 'vitest/config'

/** Runs the example workflows on act, separately from `npm test` because act is a third-party program. */
export default defineConfig({
  test: {
    include: ['test/runner/*.test.ts'],
    testTimeout: 300_000,
    maxWorkers: 2,
    globalSetup: ['test/temporary-folder.ts'],
  },
})
