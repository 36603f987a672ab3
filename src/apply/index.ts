export type { ReadCompute, Replan } from './after/converge.ts'
export { type Journal, openJournal } from './after/journal.ts'
export { overriddenOf } from './after/notes.ts'
export { type ApplyOptions, applyPlan } from './apply-plan.ts'
export { ExpectedState } from './before/expected-state.ts'
export { movedCompute, movedWords } from './before/recheck.ts'
export { isAnyDue } from './before/restart-windows.ts'
export type { Consents } from './context.ts'
export { eventSchema } from './event-shape.ts'
export {
  decodePlanFile,
  encodePlanFile,
  jsonPlan,
  type PlanFileParts,
  type PrintedExtra,
} from './saved/plan-file.ts'
export { withActivityOf } from './saved/recorded-state.ts'
export { isSamePlan, judgeSavedPlan, type Present, type SavedPlanVerdict } from './saved/saved-plan.ts'
export { type PlanFile, planFileSchema, planSchema, settingsShape } from './shapes.ts'
export { waitForOperations } from './wait/operations.ts'
export { chainTimes, Timings } from './wait/timings.ts'
