export * from './changes.ts'
export * from './judge.ts'
export type { PolicyPlan } from './measure.ts'
