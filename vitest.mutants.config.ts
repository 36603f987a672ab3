import { defineConfig } from 'vitest/config'

/** The tests that `npm run mutants` runs. */
export default defineConfig({
  test: {
    include: [
      'test/hostile/plan-paths.test.ts',
      'test/{action,agent,apply,manifest,planner,policy,workflow}/**/*.test.ts',
    ],
    // Too slow to run for each mutant: random cases, and worlds with many runs. A mutant that only they detect counts as
    // a survivor.
    exclude: [
      'test/action/{action,bundle,drift,several-plans,visible-plan,workflows}.test.ts',
      'test/agent/{accounts,agent-gates,crash,deploy,fresh,hints,live-project,month,released,surfaces,windows-and-waves}.test.ts',
      'test/agent/http/**',
      'test/manifest/{adopt,export,format,schema}.test.ts',
      'test/planner/{left-out,outcome,places,properties}.test.ts',
      'test/workflow/{at-ref,counts,unsettled}.test.ts',
    ],
    testTimeout: 60_000,
    // Test files share a worker, so that modules are loaded once per mutant.
    isolate: false,
  },
})
