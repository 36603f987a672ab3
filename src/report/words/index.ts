export {
  AGENT_GROUPS,
  AGENT_REASON_WORDS,
  type AgentGroup,
  agentGroup,
  agentStatusName,
  agentStatusWords,
} from './agent.ts'
export { applyVerdict, STATUS_WORDS } from './apply-verdict.ts'
export { planCostWords, planMoneyWords, projectCostLines, remarksOf } from './cost.ts'
export {
  counted,
  elapsed,
  emptyVerdict,
  group,
  interruptions,
  minuteOf,
  planLine,
  projectsLeftOut,
  RELEASED_HINT,
  time,
} from './counts.ts'
export { impactWords, isDisruptive, windowWords } from './impacts.ts'
export {
  computeTitle,
  hasSeveralProjects,
  isOfFleet,
  place,
  projectTitle,
  type StepNames,
  SYMBOLS,
  shownAttributes,
  stepNamesOf,
  stepTitle,
  stepTitles,
  withNamesOf,
} from './names.ts'
export { severity, worstFirst } from './order.ts'
export { isUnchanged } from './origin.ts'
export { plainText, plainValue } from './plain-text.ts'
export { deniedBy, overriddenWords, policyLines } from './policies.ts'
export { skippedLines } from './skipped.ts'
export {
  adviceTitles,
  editWords,
  type SpendingBy,
  type SpendingRow,
  savingWords,
  spendingMoney,
  spendingRows,
  spendingWords,
} from './spending.ts'
export { verdict } from './verdict.ts'
export { waveWords } from './waves.ts'
