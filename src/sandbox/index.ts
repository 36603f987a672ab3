export { type ManualClock, manualClock, type SandboxClock } from './clock/clock.ts'
export { parseSeed, readSeed } from './seed/read-seed.ts'
export { type Seed, seedSchema } from './seed/seed.ts'
export { type Sandbox, type SandboxOptions, startSandbox } from './start-sandbox.ts'
