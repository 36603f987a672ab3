/** Finds the branches on which a primary may wait while two others swap branches. */
import { type BranchName, type Diagnostic, type ObservedProject, problem } from '../model/index.ts'
import type { Declarations } from './declarations.ts'
import type { Protection } from './permissions.ts'

/**
 * A primary can be parked on a branch that has no primary and will not get one. A primary that will leave the branch
 * does not count, because an interrupted apply may have parked it there.
 */
export const parkingPlaces = (
  { computes }: ObservedProject,
  { parkOn, claims }: Declarations,
  protection: Protection,
): { readonly places: readonly BranchName[]; readonly diagnostics: readonly Diagnostic[] } => {
  const diagnostics: Diagnostic[] = []
  const places: BranchName[] = []
  const movesOn = new Set(
    claims
      .filter(({ observed, branch, type }) => type === observed?.type && branch.id !== observed.branchId)
      .map(({ observed }) => observed?.id),
  )
  for (const { reference, branch } of parkOn) {
    const occupant = computes.find(
      ({ id, branchId, type }) => branchId === branch.id && type === 'read_write' && !movesOn.has(id),
    )
    const declared = claims.some((claim) => claim.branch.id === branch.id && claim.type === 'read_write')
    const why =
      occupant !== undefined
        ? `it has the primary ${occupant.id}`
        : declared
          ? 'a primary is declared for it'
          : protection.has(branch.id)
            ? `it is protected (${protection.get(branch.id)})`
            : undefined
    if (why === undefined) places.push({ id: branch.id, name: branch.name })
    else {
      const message = `Branch \`${branch.name}\` cannot be used for parking: ${why}.`
      const hint = 'Use a branch that has no primary and for which none is declared.'
      diagnostics.push(problem('E_PARK_ON', message, hint, reference.source))
    }
  }
  return { places, diagnostics }
}
