import { defineConfig } from 'vitest/config'

/** What takes minutes: foreign clients verb by verb, and random requests by the thousand. */
export default defineConfig({
  test: {
    globalSetup: ['test/temporary-folder.ts', 'test/clients/compile-official.ts'],
    setupFiles: ['test/check-answers.ts'],
    include: ['test/long/**/*.test.ts'],
    testTimeout: 900_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
