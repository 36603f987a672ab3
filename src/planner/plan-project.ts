/** The plan of one project. */
import { compare } from '../base/index.ts'
import {
  type Change,
  type Desired,
  type Diagnostic,
  type ExpiringChange,
  effectWarnings,
  formatSize,
  isKnownSize,
  isRefused,
  type ObservedCompute,
  type ObservedProject,
  type PlanSelection,
  type SkippedChange,
  type Step,
  type UnmanagedCompute,
  warning,
} from '../model/index.ts'
import { withOnly } from './attribute-changes.ts'
import { checkMerged } from './checks.ts'
import { declarationsOf } from './declarations.ts'
import { type Draft, draftClaim, draftDelete, refuse } from './drafts.ts'
import { expiringChanges, expiryWarnings, withoutExpiring } from './expiring.ts'
import type { MatchOptions } from './match.ts'
import { order } from './order.ts'
import { protectionAgainst, protectionOf, safeguardsIn, safeguardsOf } from './permissions.ts'
import { coupleSteps, parkingPlaces, primarySlotsOf } from './primary-slots.ts'
import { type Selected, type SelectedDrafts, selectDrafts } from './select-drafts.ts'
import { branchNamer, type DraftContext, unmanagedCompute } from './steps.ts'
import { assignWindows } from './windows.ts'

export interface PlanOptions extends MatchOptions {
  /**
   * Another version of the manifests (that of the base branch) whose safeguards apply too: its protection, restart
   * windows and lack of `prune` stay in force.
   */
  readonly baseSafeguards?: Desired | undefined
  /** Which part of each change to plan. Other parts are left unchanged. Default: everything. */
  readonly select?: (change: Change) => Selected
  /** Whether a selected change includes the changes that it only runs with. By default, it is then left out itself. */
  readonly completesChains?: boolean
  /** The selection that `select` implements, for display. */
  readonly selection?: PlanSelection
  /** Additional checks on the plan of a project. If they report an error, the project is left out. */
  readonly check?: (project: ObservedProject, changes: readonly Change[]) => readonly Diagnostic[]
}

export interface ProjectPlan {
  readonly changes: readonly Change[]
  readonly steps: readonly Step[]
  readonly skipped: readonly SkippedChange[]
  readonly expiring: readonly ExpiringChange[]
  readonly unmanaged: readonly UnmanagedCompute[]
  readonly managed: number
  /** Changes that the selection excludes. */
  readonly leftOut: SelectedDrafts['leftOut']
  /** Ids of the changes that are planned only because a selected change cannot run without them. */
  readonly included: SelectedDrafts['included']
  /** If these include an error, the other fields are meaningless. */
  readonly diagnostics: readonly Diagnostic[]
}

/** @param now when the snapshot was taken, in milliseconds since the epoch. */
export const planProject = (
  project: ObservedProject,
  desired: Desired,
  options: PlanOptions,
  now: number,
): ProjectPlan => {
  const branches = new Map(project.branches.map((branch) => [branch.id, branch]))
  const declarations = declarationsOf(desired, project, options)
  const { claims, unclaimed, ambiguous, departures } = declarations
  const head = safeguardsOf(declarations)
  const base = options.baseSafeguards && safeguardsIn(options.baseSafeguards, project)
  const protection = protectionOf(head, base)
  const context: DraftContext = {
    project: project.id,
    branchName: branchNamer(project),
    defaults: project.settings?.computeDefaults,
    isDefault: (branch) => branches.get(branch)?.isDefault === true,
    isProtected: (branch) => protection.has(branch) || branches.get(branch)?.isProtected === true,
  }

  const protect = (draft: Draft): Draft => refuse(draft, protectionAgainst(draft, branches, protection))
  const deletions = departures.map((departure) => {
    const { live, reason, resolved } = departure
    const pruned = reason === 'PRUNED' && base?.prunes(live.branchId) === false
    const draft = protect(draftDelete(departure, context))
    const allowed = pruned
      ? refuse(draft, `the base manifest does not prune branch \`${resolved.branch.name}\``)
      : draft
    const twin = ambiguous.get(live.id)
    return refuse(allowed, twin && `${twin}: pin the one to keep with \`id:\` before deleting the other`)
  })
  const asked = claims.flatMap((claim) => {
    const draft = draftClaim(claim, context)
    return draft === undefined ? [] : [{ claim, draft }]
  })
  const claimOf = new Map(asked.map(({ claim, draft }) => [draft.change.id, claim]))
  const { drafts: worthwhile, skipped } = withoutExpiring(
    [...asked.map(({ draft }) => protect(draft)), ...deletions],
    project,
    declarations,
    now,
  )
  const selected = selectDrafts(worthwhile, {
    select: options.select ?? (() => true),
    completesChains: options.completesChains === true,
    withOnly: ({ change }, paths) => {
      const claim = claimOf.get(change.id)
      const draft = claim && draftClaim({ ...claim, desired: withOnly(claim.desired, paths) }, context)
      return draft && protect(draft)
    },
  })
  const found = selected.drafts

  const slots = primarySlotsOf(found.flatMap(({ steps }) => steps))
  const drafts = assignWindows(coupleSteps(found), slots, { head, base })
  const parking = parkingPlaces(project, declarations, protection)
  const ordered = order(
    drafts.flatMap(({ steps }) => steps),
    slots,
    parking.places,
  )
  const leaving = new Set(departures.map(({ live }) => live.id))
  const staying = unclaimed.filter(({ id }) => !leaving.has(id))
  const changes = drafts.map(({ change }) => change).sort(byPlace)
  return {
    changes,
    skipped,
    expiring: expiringChanges(changes, project, now),
    steps: ordered.steps,
    unmanaged: staying.map((live) => unmanagedCompute(context, live)),
    managed: claims.length,
    leftOut: selected.leftOut,
    included: selected.included,
    diagnostics: [
      ...declarations.diagnostics,
      ...checkMerged(project, declarations, staying),
      ...parking.diagnostics,
      ...ordered.diagnostics,
      ...expiryWarnings(changes, project, declarations),
      ...project.computes.flatMap((compute) => unknownSize(project, compute)),
      ...drafts.flatMap(({ change }) => [...(isRefused(change) ? [] : effectWarnings(change)), ...pinReplaced(change)]),
    ],
  }
}

/** The service may have sizes that this version does not know. Such a size is shown, and kept if none is declared. */
const unknownSize = ({ id: project }: ObservedProject, { id, attributes: { size } }: ObservedCompute) =>
  size === undefined || isKnownSize(size)
    ? []
    : [
        warning(
          'W_SIZE_UNKNOWN',
          `${id} of project \`${project}\` has ${formatSize(size)}, which is not in the size table.`,
          'Its RAM and max_connections are computed with the documented formulas. Leave out its `size` to keep it.',
        ),
      ]

const pinReplaced = ({ kind, compute, project, source }: Change): readonly Diagnostic[] => {
  if (kind !== 'replace') return []
  const message = `${compute.id} of project \`${project}\` is replaced by a compute with a new id, so its pin will no longer match.`
  return [
    warning('W_PIN_REPLACED', message, 'After the apply, write the new id that it prints into the manifest.', source),
  ]
}

/** Sorts by branch name, then the primary before replicas, then by id. */
const byPlace = (a: Change, b: Change): number =>
  compare(a.branch.name, b.branch.name) || compare(b.compute.type, a.compute.type) || compare(a.id, b.id)
