import { defineConfig } from 'vitest/config'

/** The tests that `npm run mutants` runs: those of the planner, apply and manifest modules. */
export default defineConfig({
  test: {
    include: ['test/{planner,apply,manifest}/**/*.test.ts'],
    // These take seconds per mutant. A mutant that only they detect counts as a survivor.
    exclude: [
      'test/planner/{left-out,outcome,places,properties}.test.ts',
      'test/manifest/{adopt,export,format,schema}.test.ts',
    ],
    testTimeout: 60_000,
    isolate: false,
  },
})
