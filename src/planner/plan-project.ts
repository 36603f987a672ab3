/** The plan of one project. */
import {
  type BranchName,
  type Change,
  type DesiredDocument,
  type Diagnostic,
  isAbsence,
  type ObservedProject,
  SIZE_TABLE,
  type Step,
  type UnmanagedCompute,
} from '../model/index.ts'
import { checkMerged } from './checks.ts'
import { problem, warning } from './diagnostics.ts'
import { type Draft, draftClaim, draftDelete } from './drafts.ts'
import { type Matched, match } from './match.ts'
import type { PlanOptions } from './options.ts'
import { order } from './order.ts'
import { placesOf } from './places.ts'
import { guardDraft, guardOf, guardPruned, type Protection, protectionOf, refuse, weakened } from './protection.ts'
import { type ResolvedBranch, type ResolvedProject, resolve } from './resolve.ts'
import { compare } from './sort.ts'
import { unmanagedCompute } from './steps.ts'
import { bindTogether } from './together.ts'
import { keepToWindows } from './windows.ts'

export interface ProjectPlan {
  readonly changes: readonly Change[]
  readonly steps: readonly Step[]
  readonly unmanaged: readonly UnmanagedCompute[]
  readonly managed: number
  /** With an error among them the rest means nothing. */
  readonly diagnostics: readonly Diagnostic[]
}

export const planProject = (
  project: ObservedProject,
  documents: readonly DesiredDocument[],
  options: PlanOptions,
): ProjectPlan => {
  const table = options.sizeTable ?? SIZE_TABLE
  const branches = new Map(project.branches.map((branch) => [branch.id, branch]))
  const branchName = (id: string): BranchName => ({ id, name: branches.get(id)?.name ?? id })
  const context = { project: project.id, sizeTable: table, branchName }

  const resolved = resolve(project, documents)
  const matched = match(project, resolved.branches, options.pinAliases ?? {}, table)
  const guard = guardOf(project, options.guard)
  const protection = protectionOf(resolved.branches, guard)
  const departures = departuresOf(resolved.branches, matched)
  const unclaimed = new Map(matched.unclaimed.map((compute) => [compute.id, compute]))
  const leaving = new Set(departures.map(({ id }) => id))

  const found: Draft[] = []
  for (const claim of matched.claims) {
    const draft = draftClaim(claim, context)
    if (draft !== undefined) found.push(guardDraft(draft, branches, protection))
  }
  for (const { id, reason, resolved: owner } of departures) {
    const live = unclaimed.get(id)
    if (live === undefined) continue
    const { primary } = owner.shape
    const source = reason === 'DECLARED_ABSENT' ? primary?.source : undefined
    const draft = guardDraft(draftDelete(live, owner.branch, reason, source, context), branches, protection)
    const guarded = reason === 'PRUNED' && draft.change.refused === undefined ? guardPruned(draft, owner, guard) : draft
    found.push(markAmbiguous(guarded, matched.ambiguous.get(id)))
  }

  const places = placesOf(found.flatMap((draft) => draft.steps))
  const windowed = keepToWindows(bindTogether(found, places), places, project, resolved.branches, options.guard)
  const { drafts } = windowed
  const parking = parkingPlaces(project, resolved, matched, protection)
  const ordered = order(
    drafts.flatMap((draft) => draft.steps),
    places,
    parking.places,
  )
  const steps = ordered.steps
  return {
    changes: drafts.map(({ change }) => change).sort(byPlace),
    steps,
    unmanaged: matched.unclaimed
      .filter(({ id }) => !leaving.has(id))
      .map((live) => unmanagedCompute(project.id, branchName(live.branchId), live)),
    managed: matched.claims.length,
    diagnostics: [
      ...resolved.diagnostics,
      ...weakened(project.id, resolved.branches, guard),
      ...matched.diagnostics,
      ...checkMerged(project, resolved.branches, matched, leaving, table),
      ...parking.diagnostics,
      ...ordered.diagnostics,
      ...windowed.diagnostics,
      ...drafts.flatMap(remarks),
    ],
  }
}

interface Departure {
  readonly id: string
  readonly reason: 'DECLARED_ABSENT' | 'PRUNED'
  readonly resolved: ResolvedBranch
}

/** Which unclaimed computes are to be deleted. */
export const departuresOf = (branches: readonly ResolvedBranch[], { unclaimed }: Matched): readonly Departure[] => {
  const byBranch = new Map(branches.map((resolved) => [resolved.branch.id, resolved]))
  return unclaimed.flatMap(({ id, branchId, type }): readonly Departure[] => {
    const resolved = byBranch.get(branchId)
    const primary = resolved?.shape.primary
    if (resolved === undefined) return []
    if (type === 'read_write' && primary !== undefined && isAbsence(primary)) {
      return [{ id, reason: 'DECLARED_ABSENT', resolved }]
    }
    return resolved.prune ? [{ id, reason: 'PRUNED', resolved }] : []
  })
}

const markAmbiguous = (draft: Draft, why: string | undefined): Draft => {
  if (why === undefined) return draft
  return refuse(draft, `${why}: pin the one to keep with \`id:\` before the other may be deleted`)
}

/**
 * A branch to park on has no primary, and none is to come. One that is on its way elsewhere does not count: it may wait
 * there since an apply that was cut short.
 */
const parkingPlaces = (
  project: ObservedProject,
  { parkOn }: ResolvedProject,
  { claims }: Matched,
  protection: Protection,
) => {
  const diagnostics: Diagnostic[] = []
  const places: BranchName[] = []
  const movesOn = new Set(
    claims
      .filter(({ observed, branch, type }) => type === observed?.type && branch.id !== observed.branchId)
      .map(({ observed }) => observed?.id),
  )
  for (const { reference, branch } of parkOn) {
    const occupant = project.computes.find(
      ({ id, branchId, type }) => branchId === branch.id && type === 'read_write' && !movesOn.has(id),
    )
    const declared = claims.some((claim) => claim.branch.id === branch.id && claim.type === 'read_write')
    const protectedBy = protection.get(branch.id)
    if (occupant === undefined && !declared && protectedBy === undefined) {
      places.push({ id: branch.id, name: branch.name })
      continue
    }
    const why =
      occupant !== undefined
        ? `it has the primary ${occupant.id}`
        : declared
          ? 'a primary is declared for it'
          : `it is protected (${protectedBy})`
    diagnostics.push(
      problem(
        'E_PARK_ON',
        `Branch \`${branch.name}\` cannot be parked on: ${why}.`,
        'Name a branch that has no primary and is to have none.',
        reference.source,
      ),
    )
  }
  return { places, diagnostics }
}

const remarks = ({ change }: Draft): readonly Diagnostic[] => [
  ...(change.before !== undefined &&
  change.after !== undefined &&
  change.after.maxConnections < change.before.maxConnections
    ? [
        warning(
          'W_CONNECTIONS_SHRINK',
          `max_connections of ${change.compute.id} on branch \`${change.branch.name}\` of project \`${change.project}\` shrinks from ${change.before.maxConnections} to ${change.after.maxConnections}.`,
          'Check that its clients need no more than that.',
          change.source,
        ),
      ]
    : []),
  ...(change.kind === 'replace'
    ? [
        warning(
          'W_PIN_REPLACED',
          `${change.compute.id} of project \`${change.project}\` is replaced by a compute with a new id, so its pin will name nothing.`,
          'Apply tells the new id: put it into the manifest then.',
          change.source,
        ),
      ]
    : []),
]

/** By branch name, primary before replicas, then by id. */
const byPlace = (a: Change, b: Change): number =>
  compare(a.branch.name, b.branch.name) || compare(b.compute.type, a.compute.type) || compare(a.id, b.id)
