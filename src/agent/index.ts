/** The agent's pure core: what a round decides, as functions of plan, record, policy and clock. */
export * from './decide.ts'
export * from './record.ts'
export * from './request-share.ts'
export * from './retries.ts'
export * from './round.ts'
export * from './state.ts'
export * from './suspension.ts'
export * from './wakes.ts'
