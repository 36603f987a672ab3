import { defineConfig } from 'vitest/config'

/** The tests that `npm run mutants` runs on mutants of the planner, of apply and of the manifest: those of the module. */
export default defineConfig({
  test: {
    include: ['test/{planner,apply,manifest}/**/*.test.ts'],
    // Random cases take seconds, and run once for each mutant: what they alone notice counts as a survivor.
    exclude: [
      'test/planner/{left-out,outcome,places,properties}.test.ts',
      'test/manifest/{adopt,export,format,schema}.test.ts',
    ],
    testTimeout: 60_000,
    isolate: false,
  },
})
