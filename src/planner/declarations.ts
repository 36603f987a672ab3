/** Everything that the manifests declare for one live project. */
import {
  type Desired,
  type DesiredCompute,
  type Diagnostic,
  inRuleOrder,
  type ObservedCompute,
  type ObservedProject,
  type RestartWindow,
  type Source,
  serviceWindow,
} from '../model/index.ts'
import { absenceOf, type Matched, type MatchOptions, match } from './match.ts'
import { type ResolvedBranch, type ResolvedProject, resolve } from './resolve.ts'

export interface Declarations extends ResolvedProject, Matched {
  /** Computes to delete because no declaration claims them. */
  readonly departures: readonly Departure[]
  /** The window that `restartWindow: service` resolves to. */
  readonly serviceWindow: RestartWindow
  readonly diagnostics: readonly Diagnostic[]
}

export interface Departure {
  readonly live: ObservedCompute
  readonly reason: 'DECLARED_ABSENT' | 'PRUNED'
  readonly resolved: ResolvedBranch
  /** Where the compute is declared absent. */
  readonly source?: Source
}

export const declarationsOf = (
  { documents }: Desired,
  project: ObservedProject,
  options: MatchOptions = {},
): Declarations => {
  const resolved = resolve(project, inRuleOrder(documents.filter((document) => document.project === project.id)))
  const matched = match(project, resolved.branches, options)
  return {
    ...resolved,
    ...matched,
    departures: departuresOf(resolved.branches, matched),
    serviceWindow: serviceWindow(project.settings?.maintenanceWindow),
    diagnostics: [...resolved.diagnostics, ...matched.diagnostics],
  }
}

const departuresOf = (branches: readonly ResolvedBranch[], { unclaimed }: Matched): readonly Departure[] => {
  const byBranch = new Map(branches.map((resolved) => [resolved.branch.id, resolved]))
  return unclaimed.flatMap((live): readonly Departure[] => {
    const resolved = byBranch.get(live.branchId)
    if (resolved === undefined) return []
    const absence = absenceOf(live, resolved.shape)
    if (absence !== undefined) return [{ live, reason: 'DECLARED_ABSENT', resolved, source: absence.source }]
    return resolved.prune ? [{ live, reason: 'PRUNED', resolved }] : []
  })
}

/** By compute id; unmanaged computes are absent. */
export const declaredComputes = (desired: Desired, project: ObservedProject): ReadonlyMap<string, DesiredCompute> =>
  new Map(
    declarationsOf(desired, project).claims.flatMap(({ observed, desired: declared }) =>
      observed === undefined ? [] : [[observed.id, declared] as const],
    ),
  )
