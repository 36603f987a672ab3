import { defineConfig } from 'vitest/config'

/** The example workflows on act: programs of others, so they run apart from `npm test`. */
export default defineConfig({
  test: {
    include: ['test/runner/*.test.ts'],
    testTimeout: 300_000,
    maxWorkers: 2,
    globalSetup: ['test/temporary-folder.ts'],
  },
})
