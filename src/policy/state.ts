/** What policies are judged on: a project as it is, or as it will be. */
import type { ComputeSettings, ComputeType, Source } from '../model/index.ts'

export interface ExpectedCuHours {
  /** CU-hours a month of the computes whose use can be estimated. */
  readonly known: number
  /** Whether these are all computes. */
  readonly isComplete: boolean
}

/** Throughout, absent is unknown: of a manifest by itself much is. */
export interface PolicyProject {
  readonly id: string
  readonly name?: string
  readonly prune?: boolean
  readonly cuHours?: ExpectedCuHours
  readonly branches: readonly PolicyBranch[]
  /** Whether `branches` are all branches with all their computes. */
  readonly isComplete: boolean
}

export interface PolicyBranch {
  readonly name: string
  /** By a manifest; the service's own protection allows moves, so it does not count. */
  readonly protect?: boolean
  readonly cuHours?: ExpectedCuHours
  readonly computes: readonly PolicyCompute[]
  readonly source?: Source
}

export interface PolicyCompute {
  /** The same before and after. */
  readonly key: string
  /** `primary`, `replica reporting`. */
  readonly title: string
  readonly type: ComputeType
  readonly settings: Partial<Pick<ComputeSettings, 'size' | 'scaleToZero'>>
  readonly hasWindow?: boolean
  /** Created by the plan: an unknown size is the manifest's own, and can be given. */
  readonly isNew?: boolean
  readonly source?: Source
  /** Where its values are set. */
  readonly sources?: { readonly size?: Source; readonly scaleToZero?: Source }
}
