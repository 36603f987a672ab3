/** Finds a compute by the reference that a user gives: an id, `branch` for its primary, or `branch/replica`. */
import { EspalierError, listed, nearest, plainText } from '../../base/index.ts'
import { usageError } from './flags.ts'

export interface NamedCompute {
  readonly id: string
  readonly projectId: string
  readonly branchId: string
  readonly branchName: string
  readonly type: 'read_write' | 'read_only'
  readonly name?: string | undefined
}

/** @throws {EspalierError} `E_NO_COMPUTE` if no compute matches the reference, `E_USAGE` if several do. */
export const chooseCompute = <T extends NamedCompute>(ref: string, computes: readonly T[]): T => {
  const found = computes.filter((compute) => namesOf(compute).includes(ref))
  const [only] = found
  if (only === undefined) {
    const near = nearest(ref, computes.flatMap(namesOf).map(plainText))
    const known = [...new Set(computes.map((compute) => plainText(shortNameOf(compute))))]
    throw new EspalierError('E_NO_COMPUTE', `There is no compute ${ref}.`, {
      hint:
        near === undefined
          ? `The project has ${known.length === 0 ? 'none' : listed(known)}.`
          : `Did you mean ${near}?`,
    })
  }
  if (found.length > 1) {
    const projects = found.map(({ projectId, id }) => `${id} in ${projectId}`).join(', ')
    throw usageError(`${ref} matches several computes: ${projects}.`, 'Use its id.')
  }
  return only
}

/** `branch` for a primary, and `branch/replica` for a replica. A replica without a name is shown by its id. */
const shortNameOf = ({ id, branchName, type, name }: NamedCompute): string => {
  if (type === 'read_write') return branchName
  return name === undefined ? id : `${branchName}/${name}`
}

const namesOf = ({ id, branchName, branchId, type, name }: NamedCompute): readonly string[] => {
  if (type === 'read_write') return [id, branchName, branchId]
  return name === undefined ? [id] : [id, `${branchName}/${name}`, `${branchId}/${name}`]
}
