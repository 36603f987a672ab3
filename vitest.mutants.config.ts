import { defineConfig } from 'vitest/config'

/** The tests that `npm run mutants` holds mutants of the planner, of apply and of the manifest against. */
export default defineConfig({
  test: {
    include: ['test/{planner,apply,manifest,model,windows,workflow,reliability}/**/*.test.ts'],
    exclude: ['test/reliability/model.test.ts'],
    testTimeout: 60_000,
  },
})
