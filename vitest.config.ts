import { defineConfig } from 'vitest/config'

const common = { testTimeout: 30_000, hookTimeout: 30_000 }

export default defineConfig({
  test: {
    projects: [
      { test: { ...common, name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**'] } },
      { test: { ...common, name: 'e2e', include: ['test/e2e/**/*.test.ts'], globalSetup: ['test/e2e/build-once.ts'] } },
    ],
  },
})
