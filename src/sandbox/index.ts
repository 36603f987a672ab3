export type { SandboxClock } from './clock/clock.ts'
export { type ManualClock, manualClock } from './clock/manual-clock.ts'
export { parseSeed, readSeed, type Seed, seedSchema } from './seed/seed.ts'
export { type Sandbox, type SandboxOptions, startSandbox } from './start-sandbox.ts'
