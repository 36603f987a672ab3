/** The state of a project, current or planned, on which policies are evaluated. */
import type { ComputeSettings } from './compute-settings.ts'
import type { ChangeCost } from './cost.ts'
import type { Source } from './diagnostic.ts'
import type { ComputeType } from './observed.ts'
import type { Change } from './plan.ts'

export interface ExpectedCuHours {
  /** CU-hours per month of the computes whose usage can be estimated. */
  readonly known: number
  /** Whether `known` covers all computes. */
  readonly isComplete: boolean
}

/** If a value is absent, it is unknown. Many values are unknown if no live projects are read. */
export interface PolicyProject {
  readonly id: string
  readonly name?: string
  readonly prune?: boolean
  readonly cuHours?: ExpectedCuHours
  readonly branches: readonly PolicyBranch[]
  /** Whether `branches` is complete, with all computes. */
  readonly isComplete: boolean
}

export interface PolicyBranch {
  readonly name: string
  /** Protected by a manifest. The service's own protection does not count, because it allows moves. */
  readonly protect?: boolean
  readonly cuHours?: ExpectedCuHours
  readonly computes: readonly PolicyCompute[]
  readonly source?: Source
}

export interface PolicyCompute {
  /** Identifies the compute before and after a plan. */
  readonly key: string
  /** `primary`, `replica reporting`. */
  readonly title: string
  readonly type: ComputeType
  readonly settings: Partial<Pick<ComputeSettings, 'size' | 'scaleToZero'>>
  readonly hasWindow?: boolean
  /** Whether the plan creates it: if so, an unknown size can be fixed by setting it in the manifest. */
  readonly isNew?: boolean
  readonly source?: Source
  /** Where the compute's values are declared. */
  readonly sources?: { readonly size?: Source; readonly scaleToZero?: Source }
}

/** A change that a plan makes, and its cost. */
export interface CostedChange {
  readonly change: Change
  readonly cost: ChangeCost | undefined
}
