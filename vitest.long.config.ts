import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { globSync } from 'tinyglobby'
import { defineConfig } from 'vitest/config'

/** The tests of which `npm test` runs only a part of the cases. */
const inPart = globSync('test/**/*.test.ts').filter((file) => readFileSync(file, 'utf8').includes('/long-runs.ts'))

/** Runs for minutes: every kill point, thousands of random cases, every command of other clients. */
export default defineConfig({
  test: {
    // Vitest would leave a core to the main process, which only waits here.
    maxWorkers: availableParallelism(),
    globalSetup: [
      'test/temporary-folder.ts',
      'test/plain-git.ts',
      'test/clients/compile-official.ts',
      'test/e2e/build-once.ts',
    ],
    setupFiles: ['test/check-answers.ts'],
    include: ['test/long/**/*.test.ts', ...inPart],
    env: { ESPALIER_LONG_TESTS: '1' },
    testTimeout: 900_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
