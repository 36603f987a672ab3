export { type ApplyOptions, applyPlan } from './apply-plan.ts'
export { type Budgets, checkBudgets } from './budgets.ts'
export type { ConsentPolicy } from './context.ts'
export type { ReadCompute, Replan } from './converge.ts'
export { eventSchema } from './event-shape.ts'
export { exitCodeOf } from './exit-code.ts'
export { type Journal, openJournal } from './journal.ts'
export { waitForOperations } from './operations.ts'
export { overriddenOf } from './overridden.ts'
export {
  decodePlanFile,
  encodePlanFile,
  jsonPlan,
  type PlanFileParts,
  type PrintedExtra,
} from './plan-file.ts'
export { isSamePlan } from './same-plan.ts'
export { judgeSavedPlan, type Present, type SavedPlanVerdict } from './saved-plan.ts'
export { isAnyDue } from './scheduled.ts'
export { withActivityOf } from './seen.ts'
export { type PlanFile, planFileSchema, planSchema, settingsShape } from './shapes.ts'
