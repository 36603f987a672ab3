import { defineConfig } from 'vitest/config'

/** The tests that `npm run mutants` runs on mutants of the planner, of apply and of the manifest. */
export default defineConfig({
  test: {
    include: ['test/{planner,apply,manifest,model,windows,workflow}/**/*.test.ts'],
    // Random cases take seconds, and run once for each mutant: what they alone notice counts as a survivor.
    exclude: [
      'test/reliability/**',
      'test/planner/{outcome,places,properties}.test.ts',
      'test/manifest/{adopt,export}.test.ts',
    ],
    testTimeout: 60_000,
  },
})
