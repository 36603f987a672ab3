/** Decides a round of a project from its snapshot and stored state. */
import { checkBudgets } from '../apply/index.ts'
import type { Change, Observed, Plan } from '../model/index.ts'
import type { Selected } from '../planner/index.ts'
import { type Manifests, planSnapshot } from '../workflow/index.ts'
import type { ProjectFile } from './data-folder.ts'
import type { Declaration } from './desired-state.ts'
import { budgetsLeft, mayInterruptNow } from './memory.ts'
import { decideRound, type Round } from './round.ts'
import type { Shared } from './shared.ts'

export interface RoundOptions {
  /** The plan for all differences. */
  readonly plan: Plan
  readonly isSuspended: boolean
  /** Plans only these changes, which belong to a chain already started. */
  readonly continuing?: ReadonlySet<string> | undefined
}

export const roundOf = (
  { history, waitsFor }: Declaration,
  manifests: Manifests,
  observed: Observed,
  file: ProjectFile,
  { now, policy, budgets, isSettled }: Shared,
  { plan, isSuspended, continuing }: RoundOptions,
): Round => {
  const at = now()
  const mayPlan = (change: Change): boolean => continuing === undefined || continuing.has(change.id)
  const planOf = (choose: (change: Change) => Selected) =>
    planSnapshot(observed, { ...manifests, selecting: { selection: {}, leftOutProjects: 0, choose } }).result.plan
  const whole = continuing === undefined ? plan : planOf(mayPlan)
  return decideRound({
    plan: (select) => (select === undefined ? whole : planOf((change) => mayPlan(change) && select(change))),
    memory: { ...file, record: file.record ?? { program: '', manifests: '', entries: {} } },
    situation: { policy, isSuspended, areManifestsValid: true, history },
    steps: {
      now: at,
      continuing: new Set(continuing === undefined ? [] : whole.steps.map(({ id }) => id)),
      isWaveHeld: waitsFor().some((id) => !isSettled(id)),
      mayInterrupt: (step) => mayInterruptNow(file, step, at),
    },
    isOverBudget: (plan) => plan.steps.length > 0 && checkBudgets(plan, budgetsLeft(budgets, file, at)).length > 0,
  })
}
