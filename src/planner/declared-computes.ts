/** Maps each live compute to its declaration. */
import type { Desired, DesiredCompute, ObservedProject } from '../model/index.ts'
import { declarationsOf } from './declarations.ts'

/** By compute id; unmanaged computes are absent. */
export const declaredComputes = (desired: Desired, project: ObservedProject): ReadonlyMap<string, DesiredCompute> =>
  new Map(
    declarationsOf(desired, project).claims.flatMap(({ observed, desired: declared }) =>
      observed === undefined ? [] : [[observed.id, declared] as const],
    ),
  )
