export {
  type Annotation,
  changeAnnotations,
  diagnosticAnnotations,
  jsonDiagnostics,
  jsonDrift,
  sarifDiagnostics,
} from './data.ts'
export { failureComment, HOW_TO_APPROVE, outcomeComment, problemComment } from './markdown/comments.ts'
export { costMarkdown } from './markdown/cost.ts'
export { markdownPlan, planComment } from './markdown/plan.ts'
export { COMMENT_LIMIT, type Limit, type PlanView, SUMMARY_LIMIT } from './markdown/text.ts'
export { agentAdoption, agentProjectDetail, agentStatusTable } from './terminal/agent-status.ts'
export { costTable } from './terminal/cost.ts'
export { terminalDiagnostics } from './terminal/diagnostics.ts'
export { terminalDrift } from './terminal/drift.ts'
export { eventLine, isNotStarted, newsFilter } from './terminal/events.ts'
export { applyLog } from './terminal/log.ts'
export { consoleStatus, operationsTable, STATUS_WORDS } from './terminal/operations.ts'
export { openSteps, terminalOutcome } from './terminal/outcome.ts'
export { terminalPlan } from './terminal/plan.ts'
export {
  afterEvent,
  delaysOf,
  endedCount,
  type ReadingView,
  type RunState,
  readingLine,
  runView,
  startOf,
  timeLeftOf,
} from './terminal/progress.ts'
export { sizesTable } from './terminal/sizes-table.ts'
export { statusesOf, statusTable } from './terminal/status.ts'
export { type Style, wrapped } from './terminal/style.ts'
export { agentStatusName, agentStatusWords } from './words/agent.ts'
export { ageOf, minuteOf, time } from './words/counts.ts'
export { differenceEffects, effectLines } from './words/effects.ts'
export { consentWords } from './words/impacts.ts'
export { computeOnBranch, planNames, projectTitle } from './words/names.ts'
export { emptyVerdict, planLine, planVerdict, projectsLeftOut } from './words/plan-lines.ts'
export { isReleasing, releasedCounts, releasedLines, shownReleased } from './words/released.ts'
export { spendingWords } from './words/spending.ts'
