export type { PlanOptions } from './options.ts'
export { originOf } from './origin.ts'
export { plan, projectIds } from './plan.ts'
export { whoMoved } from './who-moved.ts'
