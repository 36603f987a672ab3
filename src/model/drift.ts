/** Differences between the manifests and the live project, and which side changed. */
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
  /** Absent if the whole compute differs: it must be created, moved, replaced or deleted. */
  readonly attribute?: AttributeChange
  readonly mover: Mover
  /** The most recent operation that may have caused the difference. The API does not show who started an operation. */
  readonly lastOperation?: DriftOperation
}

export interface DriftOperation {
  readonly id: string
  readonly action: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly computeId: string
}
