export type { PlanOptions } from './options.ts'
export { plan, projectIds } from './plan.ts'
