import { defineConfig } from 'vitest/config'

/** The tests that `npm run mutants` runs. */
export default defineConfig({
  test: {
    include: ['test/{planner,apply,manifest}/**/*.test.ts'],
    // Random cases are too slow to run for each mutant. A mutant that only they detect counts as a survivor.
    exclude: [
      'test/planner/{left-out,outcome,places,properties}.test.ts',
      'test/manifest/{adopt,export,format,schema}.test.ts',
    ],
    testTimeout: 60_000,
    // Test files share a worker, so that modules are loaded once per mutant.
    isolate: false,
  },
})
