/** The current cost of a project's computes. */
import { groupBy } from '../base/index.ts'
import {
  type CostBasis,
  type CostFlag,
  type CostRange,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  settingsOfCompute,
} from '../model/index.ts'
import { type Costed, estimateCompute, hoursToCome, isNeverIdle } from './estimate.ts'
import { usageOfBranch } from './usage.ts'

export interface LiveCost extends Costed {
  readonly compute: ObservedCompute
  readonly branch: ObservedBranch
  /** Unrounded. */
  readonly cost: CostRange
}

export const liveCosts = (project: ObservedProject, now: number): readonly LiveCost[] => {
  const byBranch = groupBy(project.computes, ({ branchId }) => branchId)
  return project.branches.flatMap((branch) => {
    const computes = byBranch.get(branch.id) ?? []
    const usages = usageOfBranch(project, branch, computes, now)
    const hours = hoursToCome(branch.expiresAt, now)
    return computes.map((compute): LiveCost => {
      const settings = settingsOfCompute(compute.attributes)
      const usage = usages.get(compute.id)
      return { settings, usage, hours, compute, branch, cost: estimateCompute({ settings, usage, hours }) }
    })
  })
}

export const basisOf = ({ settings, usage }: Costed, flags: readonly CostFlag[] = usage?.flags ?? []): CostBasis => {
  if (usage === undefined || settings.disabled) {
    const kind = settings.disabled || isNeverIdle(settings) ? 'settings' : 'unknown'
    return { kind, activeHoursPerDay: null, since: null, averageCu: null, flags }
  }
  const { expected } = usage.share
  return {
    kind: 'measured',
    activeHoursPerDay: expected === null ? null : Math.round(expected * 240) / 10,
    since: new Date(usage.since).toISOString(),
    averageCu: Math.round(usage.averageCu * 100) / 100,
    flags,
  }
}
