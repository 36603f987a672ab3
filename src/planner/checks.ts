/** Checks the rules that depend on the live state, before any steps are built. */
import { compare, groupBy } from '../base/index.ts'
import {
  type ComputeAttributes,
  type ComputeType,
  type Diagnostic,
  differingKeys,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  problem,
  SIZE_TABLE,
  warning,
} from '../model/index.ts'
import type { Declarations } from './declarations.ts'
import { type Claim, canBecome } from './match.ts'
import { isProtected } from './resolve.ts'

export const checkMerged = (
  project: ObservedProject,
  declarations: Declarations,
  staying: readonly ObservedCompute[],
): readonly Diagnostic[] => {
  // A pin to a missing compute is reported elsewhere, and says nothing about the branch.
  const claims = declarations.claims.filter(({ desired, observed }) => desired.id === undefined || observed)
  const crowded = crowdedBranches(project, declarations)
  return [
    ...claims.flatMap(checkScaleToZero),
    ...crowded.values(),
    ...checkPrimaries(
      project.id,
      claims.filter(({ branch }) => !crowded.has(branch.id)),
      staying,
      new Set(declarations.branches.filter(isProtected).map(({ branch }) => branch.id)),
    ),
    ...checkNames(claims, staying),
    ...checkRenames(
      claims,
      staying,
      declarations.branches.map(({ branch }) => branch),
    ),
  ]
}

/**
 * Declared branches with several live primaries, which the service promises cannot happen. Nothing is changed or
 * deleted, because a user has to determine which primary is in use.
 */
const crowdedBranches = (
  { computes }: ObservedProject,
  { branches, claims }: Declarations,
): ReadonlyMap<string, Diagnostic> => {
  const leaving = new Set(
    claims.flatMap(({ observed, branch }) => (observed?.branchId === branch.id ? [] : observed?.id)),
  )
  const primariesOn = groupBy(
    computes.filter(({ id, type }) => type === 'read_write' && !leaving.has(id)),
    ({ branchId }) => branchId,
  )
  return new Map(
    branches.flatMap(({ branch, shape, prune, source }) => {
      const primaries = (primariesOn.get(branch.id) ?? []).map(({ id }) => id).sort(compare)
      if (primaries.length < 2 || (shape.primary === undefined && !prune)) return []
      const message = `Branch \`${branch.name}\` has ${primaries.length} primaries, but the service allows only one: ${primaries.join(', ')}. Its state is corrupt.`
      const hint =
        "This project is not planned. Check in the console which primary is in use, and contact the service's support."
      return [[branch.id, problem('E_TWO_PRIMARIES', message, hint, source)]]
    }),
  )
}

/** Scale to zero requires a compute of at most 16 CU. */
const checkScaleToZero = ({ desired, observed: claimed, branch, type }: Claim): readonly Diagnostic[] => {
  // A compute of another type is replaced, and its successor inherits nothing.
  const observed = claimed?.type === type ? claimed : undefined
  const live: ComputeAttributes = observed?.attributes ?? {}
  const size = desired.attributes.size ?? live.size
  if (size === undefined || canBecome(desired.attributes, live)) return []
  const where = desired.attributes.size === undefined ? desired.sources.scaleToZero : desired.sources.size
  const kept = desired.attributes.scaleToZero === undefined && observed !== undefined
  const rule = `A compute above ${SIZE_TABLE.scaleToZeroMaxCu} CU cannot scale to zero`
  const message = `${rule}: ${size.max} CU on branch \`${branch.name}\`${kept ? ' would keep its live scale-to-zero setting' : ''}.`
  const hint = 'Add `scaleToZero: never`, or choose a smaller size.'
  return [problem('E_SCALE_TO_ZERO_SIZE', message, hint, where ?? desired.source)]
}

/** A branch that keeps its primary has no room for another one. */
const checkPrimaries = (
  project: string,
  claims: readonly Claim[],
  staying: readonly ObservedCompute[],
  protectedIds: ReadonlySet<string>,
): readonly Diagnostic[] => {
  const primaryOn = new Map(
    staying.filter(({ type }) => type === 'read_write').map((live) => [live.branchId, live] as const),
  )
  return claims.flatMap((claim) => {
    const { id } = (claim.type === 'read_write' ? primaryOn.get(claim.branch.id) : undefined) ?? {}
    if (id === undefined) return []
    const own = claim.observed?.id ?? 'a new compute'
    const message = `Branch \`${claim.branch.name}\` already has the primary ${id}, so ${own} cannot be its primary.`
    const hint = `${protectedIds.has(claim.branch.id) ? 'Remove the protection of the branch first. ' : ''}Pin ${id} on another branch (\`id: ${id}\`), or delete it: \`espalier compute delete ${id} --project ${project}\`.`
    return [problem('E_PRIMARY_TAKEN', message, hint, claim.desired.sources.id ?? claim.desired.source)]
  })
}

/**
 * The API does not enforce unique names, but users expect them. Compares declared names with those of computes that
 * stay.
 */
const checkNames = (claims: readonly Claim[], staying: readonly ObservedCompute[]): readonly Diagnostic[] => {
  const names = new Map<string, { readonly who: string; readonly unmanaged?: ComputeType }>()
  const keyOf = (branchId: string, name: string): string => `${branchId}/${name}`
  for (const { branch, desired, observed, type } of claims) {
    const { name } = observed?.attributes ?? {}
    if (observed?.type !== type || desired.attributes.name !== undefined || name === undefined) continue
    names.set(keyOf(branch.id, name), { who: `${observed.id} (whose name is not declared)` })
  }
  for (const { id, branchId, attributes, type } of staying) {
    if (attributes.name === undefined) continue
    names.set(keyOf(branchId, attributes.name), { who: `the unmanaged compute ${id}`, unmanaged: type })
  }
  return claims.flatMap(({ branch, desired, observed, type }) => {
    const { name } = desired.attributes
    const namesake = name === undefined || names.size === 0 ? undefined : names.get(keyOf(branch.id, name))
    if (namesake === undefined) return []
    const message = `On branch \`${branch.name}\`, ${namesake.who} is also named \`${name}\`.`
    // If both have the name already, a pin would only exchange them.
    const isOther = namesake.unmanaged === type && observed?.attributes.name !== name
    const hint = isOther ? 'Pin the right one with `id:`, or rename one of the two.' : 'Rename one of the two.'
    return [warning('W_NAME_TAKEN', message, hint, desired.source)]
  })
}

/**
 * Warns if a replica would be created although an identical one is undeclared: on the same branch, or with the same name
 * on another declared one. The user may have renamed or moved its key.
 */
const checkRenames = (
  claims: readonly Claim[],
  staying: readonly ObservedCompute[],
  declared: readonly ObservedBranch[],
): readonly Diagnostic[] => {
  const isReplica = ({ type }: Pick<Claim, 'type'>): boolean => type === 'read_only'
  const missing = claims.filter((claim) => isReplica(claim) && claim.observed === undefined)
  const unmanaged = staying.filter(isReplica)
  const nameOf = new Map(declared.map(({ id, name }) => [id, name]))
  const missingOn = groupBy(missing, ({ branch }) => branch.id)
  const unmanagedOn = groupBy(unmanaged, ({ branchId }) => branchId)
  const missingAs = groupBy(missing, ({ desired }) => desired.attributes.name ?? '')
  const elsewhere = unmanaged.filter(
    ({ branchId, attributes }) => nameOf.has(branchId) && attributes.name !== undefined,
  )
  const unmanagedAs = groupBy(elsewhere, ({ attributes }) => attributes.name ?? '')
  return missing.flatMap(({ branch, desired }) => {
    const { key, attributes, source } = desired
    const live = [
      onlyPair(missingOn.get(branch.id), unmanagedOn.get(branch.id)),
      onlyPair(missingAs.get(attributes.name ?? ''), unmanagedAs.get(attributes.name ?? '')),
    ].find((one) => one !== undefined && isSameButName(attributes, one.attributes))
    const { name } = live?.attributes ?? {}
    if (live === undefined || name === undefined) return []
    const isHere = live.branchId === branch.id
    const place = isHere ? '' : ` on branch \`${nameOf.get(live.branchId)}\``
    const message = `Replica \`${key}\` of branch \`${branch.name}\` will be created, although ${live.id}, named \`${name}\`${place}, is identical and undeclared.`
    const hint = isHere
      ? `If \`${name}\` was renamed to \`${key}\`, write \`renamedFrom: ${name}\` under \`${key}\` to keep the compute and its host.`
      : `If \`${key}\` was moved to this branch, write \`id: ${live.id}\` under it to keep the compute and its host.`
    return [warning('W_RENAMED', message, hint, source)]
  })
}

const isSameButName = (declared: ComputeAttributes, live: ComputeAttributes): boolean =>
  differingKeys(declared, live).every((attribute) => attribute === 'name')

/** The live replica, if one replica is missing and one is undeclared. */
const onlyPair = (
  missing: readonly Claim[] = [],
  unmanaged: readonly ObservedCompute[] = [],
): ObservedCompute | undefined => (missing.length === 1 && unmanaged.length === 1 ? unmanaged[0] : undefined)
