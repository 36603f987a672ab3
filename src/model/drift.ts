/** Differences between the manifests and the live project, and who moved since they agreed. */
import type { AttributeChange, Change } from './plan.ts'

export const MOVERS = ['manifest', 'live', 'both'] as const

export type Mover = (typeof MOVERS)[number]

export const MOVER_WORDS: Readonly<Record<Mover, string>> = {
  manifest: 'the manifest changed',
  live: 'the live compute changed',
  both: 'both changed',
}

export interface Difference {
  readonly change: Change
  /** Absent if the compute as a whole differs: it is to be made, moved, replaced or deleted. */
  readonly attribute?: AttributeChange
  readonly mover: Mover
  /** The newest operation that may have caused it. The API does not show who started it. */
  readonly lastOperation?: DriftOperation
}

export interface DriftOperation {
  readonly id: string
  readonly action: string
  /** ISO 8601. */
  readonly createdAt: string
  /** The compute that it was for. */
  readonly computeId: string
}
