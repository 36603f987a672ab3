export * from './changes.ts'
export * from './judge.ts'
export { concernsProject, type PolicyPlan } from './measure.ts'
