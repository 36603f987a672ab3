export { type Annotation, changeAnnotations, diagnosticAnnotations } from './data/annotations.ts'
export { jsonDiagnostics } from './data/diagnostics.ts'
export { jsonDrift } from './data/drift.ts'
export { sarifDiagnostics } from './data/sarif.ts'
export { failureComment } from './markdown/failure.ts'
export { COMMENT_LIMIT, type Limit, SUMMARY_LIMIT } from './markdown/limit.ts'
export { outcomeComment } from './markdown/outcome.ts'
export { markdownPlan, planComment } from './markdown/plan.ts'
export { problemComment } from './markdown/problems.ts'
export { costMarkdown } from './markdown/spending.ts'
export type { FailureView, OutcomeView, PlanView, ProblemView } from './markdown/view.ts'
export { ageOf } from './terminal/age.ts'
export { agentProjectDetail, agentStatusTable } from './terminal/agent-status.ts'
export { terminalDiagnostics } from './terminal/diagnostics.ts'
export { terminalDrift } from './terminal/drift.ts'
export { eventLine, isNews } from './terminal/events.ts'
export { afterEvent, endedCount, type RunState, startOf } from './terminal/live/run-state.ts'
export { type RunView, runView } from './terminal/live/run-view.ts'
export { timeLeftOf } from './terminal/live/time-left.ts'
export { consoleStatus, type ListedOperation, type OperationsContext, operationsTable } from './terminal/operations.ts'
export { terminalOutcome } from './terminal/outcome.ts'
export { terminalPlan } from './terminal/plan.ts'
export { type ReadingView, readingLine } from './terminal/reading.ts'
export { sizesTable } from './terminal/sizes-table.ts'
export { costTable } from './terminal/spending.ts'
export { type ComputeStatus, type StatusContext, statusesOf, statusTable } from './terminal/status.ts'
export { type Style, wrapped } from './terminal/style.ts'
export { EXPLANATIONS, type Explanation, explanationText, MISTAKES } from './words/explanations/index.ts'
export {
  agentGroup,
  agentStatusName,
  agentStatusWords,
  counted,
  emptyVerdict,
  minuteOf,
  plainText,
  planLine,
  projectsLeftOut,
  projectTitle,
  type SpendingBy,
  type StepNames,
  spendingWords,
  stepNamesOf,
  stepTitle,
  stepTitles,
  time,
  verdict,
} from './words/index.ts'
