/** Rules that depend on the live state, checked before any steps are built. */
import { compare, groupBy } from '../base/index.ts'
import {
  type ComputeAttributes,
  type Diagnostic,
  differingKeys,
  type ObservedCompute,
  type ObservedProject,
  problem,
  type SizeTable,
  warning,
} from '../model/index.ts'
import type { Declarations } from './declarations.ts'
import { canBecome } from './feasible.ts'
import type { Claim } from './match.ts'

export const checkMerged = (
  project: ObservedProject,
  declarations: Declarations,
  { staying, sizeTable }: { readonly staying: readonly ObservedCompute[]; readonly sizeTable: SizeTable },
): readonly Diagnostic[] => {
  // A pin to a missing compute is an error of its own and proves nothing about the branch.
  const claims = declarations.claims.filter(({ desired, observed }) => desired.id === undefined || observed)
  const crowded = crowdedBranches(project, declarations)
  return [
    ...claims.flatMap((claim) => checkScaleToZero(claim, sizeTable)),
    ...crowded.values(),
    ...checkPrimaries(
      claims.filter(({ branch }) => !crowded.has(branch.id)),
      staying,
    ),
    ...checkNames(claims, staying),
    ...checkRenames(claims, staying),
  ]
}

/**
 * Declared branches with several live primaries, which the service promises never to have. Nothing is changed or
 * deleted: a user has to determine which one is in use.
 */
const crowdedBranches = (
  { computes }: ObservedProject,
  { branches, claims }: Declarations,
): ReadonlyMap<string, Diagnostic> => {
  const targets = new Map(claims.map(({ observed, branch }) => [observed?.id, branch.id]))
  const primariesOn = groupBy(
    computes.filter(({ id, type, branchId }) => type === 'read_write' && (targets.get(id) ?? branchId) === branchId),
    ({ branchId }) => branchId,
  )
  return new Map(
    branches.flatMap(({ branch, shape, prune, source }) => {
      const primaries = (primariesOn.get(branch.id) ?? []).map(({ id }) => id).sort(compare)
      if (primaries.length < 2 || (shape.primary === undefined && !prune)) return []
      const found = problem(
        'E_TWO_PRIMARIES',
        `Branch \`${branch.name}\` has ${primaries.length} primaries, and the service allows one: ${primaries.join(', ')}. Its state is corrupt.`,
        'Nothing is planned for this project. Find out in the console which of them is in use, and ask the support of the service.',
        source,
      )
      return [[branch.id, found]]
    }),
  )
}

/** Scale to zero requires a compute of at most 16 CU. */
const checkScaleToZero = (
  { desired, observed: claimed, branch, type }: Claim,
  table: SizeTable,
): readonly Diagnostic[] => {
  // A compute of another type is replaced, and its successor inherits nothing.
  const observed = claimed?.type === type ? claimed : undefined
  const live: ComputeAttributes = observed?.attributes ?? {}
  const size = desired.attributes.size ?? live.size
  if (size === undefined || canBecome(desired.attributes, live, table)) return []
  const where = desired.attributes.size === undefined ? desired.sources.scaleToZero : desired.sources.size
  const kept = desired.attributes.scaleToZero === undefined && observed !== undefined
  return [
    problem(
      'E_SCALE_TO_ZERO_SIZE',
      `A compute above ${table.scaleToZeroMaxCu} CU cannot scale to zero: ${size.max} CU on branch \`${branch.name}\`${
        kept ? ' would keep the live scale to zero' : ''
      }.`,
      'Add `scaleToZero: never`, or choose a smaller size.',
      where ?? desired.source,
    ),
  ]
}

/** A branch that keeps its primary has no room for another one. */
const checkPrimaries = (claims: readonly Claim[], staying: readonly ObservedCompute[]): readonly Diagnostic[] => {
  const primaryOn = new Map(
    staying.filter(({ type }) => type === 'read_write').map((live) => [live.branchId, live] as const),
  )
  return claims.flatMap((claim) => {
    const rival = claim.type === 'read_write' ? primaryOn.get(claim.branch.id) : undefined
    if (rival === undefined) return []
    const own = claim.observed?.id ?? 'a new compute'
    return [
      problem(
        'E_PRIMARY_TAKEN',
        `Branch \`${claim.branch.name}\` has the primary ${rival.id}, and can have one only: ${own} cannot take its place.`,
        `Declare where ${rival.id} is to go (\`id: ${rival.id}\` on another branch), or set \`prune: true\` to have it deleted.`,
        claim.desired.sources.id ?? claim.desired.source,
      ),
    ]
  })
}

/** The API does not enforce unique names, but users expect them. Compares declared names with those that stay. */
const checkNames = (claims: readonly Claim[], staying: readonly ObservedCompute[]): readonly Diagnostic[] => {
  const names = new Map<string, string>()
  const stays = (branchId: string, name: string | undefined, who: string): void => {
    if (name !== undefined) names.set(`${branchId} ${name}`, who)
  }
  for (const { branch, desired, observed, type } of claims) {
    if (observed?.type === type && desired.attributes.name === undefined) {
      stays(branch.id, observed.attributes.name, `${observed.id}, whose name is not declared,`)
    }
  }
  for (const { id, branchId, attributes } of staying) {
    stays(branchId, attributes.name, `the unmanaged compute ${id}`)
  }
  return claims.flatMap(({ branch, desired }) => {
    const name = desired.attributes.name
    const namesake = name === undefined ? undefined : names.get(`${branch.id} ${name}`)
    if (namesake === undefined) return []
    return [
      warning(
        'W_NAME_TAKEN',
        `On branch \`${branch.name}\` ${namesake} is named \`${name}\` as well.`,
        'Pin the right one with `id:`, or rename one of the two.',
        desired.source,
      ),
    ]
  })
}

/** A replica whose key was edited looks like a new one next to an unmanaged one: warns before creating a second. */
const checkRenames = (claims: readonly Claim[], staying: readonly ObservedCompute[]): readonly Diagnostic[] => {
  const isReplica = ({ type }: Pick<Claim, 'type'>): boolean => type === 'read_only'
  const missing = groupBy(
    claims.filter((claim) => isReplica(claim) && claim.observed === undefined),
    ({ branch }) => branch.id,
  )
  const unmanaged = groupBy(staying.filter(isReplica), ({ branchId }) => branchId)
  return [...missing].flatMap(([branchId, [claim, ...others]]) => {
    const [live, ...more] = unmanaged.get(branchId) ?? []
    if (claim === undefined || live === undefined || others.length > 0 || more.length > 0) return []
    const { key, attributes, source } = claim.desired
    const differs = differingKeys(attributes, live.attributes).some((attribute) => attribute !== 'name')
    const { name } = live.attributes
    if (differs || name === undefined) return []
    return [
      warning(
        'W_RENAMED',
        `Replica \`${key}\` of branch \`${claim.branch.name}\` will be created, and the identical ${live.id}, named \`${name}\`, is no longer declared.`,
        `If \`${name}\` was renamed to \`${key}\`, write \`renamedFrom: ${name}\` under \`${key}\` to keep the compute and its host.`,
        source,
      ),
    ]
  })
}
