/** What the manifests permit on a live project: which computes may be deleted or moved, and when they may be disrupted. */
import {
  type DeclaredWindow,
  type Desired,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  placeWords,
  type RestartWindow,
} from '../model/index.ts'
import { type Declarations, declarationsOf } from './declarations.ts'
import type { Draft } from './drafts.ts'
import type { ResolvedBranch } from './resolve.ts'

/** The safeguards that one version of the manifests declares for a live project. */
export interface Safeguards {
  /** Whether a document of the project says `prune: true`. */
  readonly prune: boolean
  protects(branchId: string): boolean
  prunes(branchId: string): boolean
  /** When a compute may be disrupted; `undefined`: at any time. */
  windowOf(compute: Place): RestartWindow | undefined
  /** The declared branches by id. */
  readonly branches: ReadonlyMap<string, ResolvedBranch>
}

interface Place {
  readonly branch: string
  /** Slot of the declaration, as in a claim: `BRANCH_ID/primary`. */
  readonly slot?: string | undefined
  readonly id?: string | undefined
}

/** {@link safeguardsOf} of manifests that are not matched yet. */
export const safeguardsIn = (desired: Desired, project: ObservedProject): Safeguards =>
  safeguardsOf(declarationsOf(desired, project))

/**
 * The window of a live compute is that of the declaration that claims it, wherever it is moved. Without a claim, the
 * window of its slot applies, then that of the document that declares its branch.
 */
export const safeguardsOf = ({ branches: all, claims, prune, serviceWindow }: Declarations): Safeguards => {
  const branches = new Map(all.map((resolved) => [resolved.branch.id, resolved]))
  const windows = new Map<string | undefined, DeclaredWindow>()
  for (const { branch, restartWindow } of all) {
    if (restartWindow !== undefined) windows.set(branch.id, restartWindow)
  }
  const hasDefaults = windows.size > 0
  for (const { slot, observed, desired } of claims) {
    if (desired.restartWindow === undefined && !hasDefaults) continue
    const window = desired.restartWindow ?? 'always'
    windows.set(slot, window)
    if (observed !== undefined) windows.set(observed.id, window)
  }
  return {
    prune,
    protects: (branchId) => branches.get(branchId)?.shape.protect ?? false,
    prunes: (branchId) => branches.get(branchId)?.prune ?? false,
    windowOf: ({ branch, slot, id }) => {
      const window = windows.get(id) ?? windows.get(slot) ?? windows.get(branch)
      if (window === 'service') return serviceWindow
      return window === 'always' ? undefined : window
    },
    branches,
  }
}

/** What the manifests permit for a single live compute. */
export interface ComputePermissions {
  /** Why the compute must not be deleted, as a clause. */
  readonly undeletable?: string
  /** When the compute may be disrupted. If absent, at any time. */
  readonly window?: RestartWindow
}

/** The permissions that a plan of these manifests respects for each compute of the project. */
export const permissionsIn = (
  desired: Desired,
  project: ObservedProject,
): ((compute: ObservedCompute) => ComputePermissions) => {
  const safeguards = safeguardsIn(desired, project)
  const protection = protectionOf(safeguards)
  const branches = new Map(project.branches.map((branch) => [branch.id, branch]))
  return ({ id, branchId }) => {
    const { name = branchId, isProtected = false } = branches.get(branchId) ?? {}
    const why = protection.get(branchId)
    const window = safeguards.windowOf({ id, branch: branchId })
    return {
      ...(why !== undefined
        ? { undeletable: protectedByManifest(name, why, 'deleted') }
        : isProtected && { undeletable: protectedByService(name, 'deleted') }),
      ...(window !== undefined && { window }),
    }
  }
}

/** Maps the id of each branch that the manifests protect to the reason, phrased as the end of a sentence. */
export type Protection = ReadonlyMap<string, string>

export const protectionOf = (head: Safeguards, base?: Safeguards): Protection => {
  const protectedBy = (safeguards: Safeguards | undefined) =>
    [...(safeguards?.branches.values() ?? [])].filter(({ shape }) => shape.protect)
  return new Map([
    ...protectedBy(base).map(({ branch }) => [branch.id, 'the base manifest says `protect: true`'] as const),
    ...protectedBy(head).map(({ branch, source }) => [branch.id, `\`protect: true\`${placeWords(source)}`] as const),
  ])
}

/** Why protection forbids the draft, whatever flags are given; `undefined` if it does not. */
export const protectionAgainst = (
  { change, steps }: Draft,
  branches: ReadonlyMap<string, ObservedBranch>,
  protection: Protection,
): string | undefined => {
  if (change.kind === 'create' || change.kind === 'update') return undefined
  const verb = { delete: 'deleted', move: 'moved', replace: 'replaced' }[change.kind]
  const ends = [...(change.from === undefined ? [] : [change.from]), ...steps.map(({ step }) => step.branch)]
  for (const { id, name } of ends) {
    const why = protection.get(id)
    if (why !== undefined) return protectedByManifest(name, why, verb)
  }
  // The service forbids deleting computes of protected branches; it allows moving and creating them.
  const shielded = steps.find(({ step }) => step.kind === 'delete' && branches.get(step.branch.id)?.isProtected)
  return shielded && protectedByService(shielded.step.branch.name, verb)
}

const protectedByManifest = (branch: string, why: string, verb: string): string =>
  `branch \`${branch}\` is protected (${why}): nothing on it may be ${verb}`

const protectedByService = (branch: string, verb: string): string =>
  `the service protects branch \`${branch}\`: its computes cannot be ${verb}`
