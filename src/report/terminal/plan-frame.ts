/** What all sections of a plan need. */
import { groupBy } from '../../base/index.ts'
import { CONSENTS, type Consent, type Origin, type Plan } from '../../model/index.ts'
import type { remarksOf } from '../words/cost.ts'
import type { Paint, Style } from './style.ts'

export interface PlanContext {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** The current time, ISO 8601, which decides whether restart windows are open. */
  readonly now?: string
  /** `--now`: steps also run outside their windows. */
  readonly overridesWindows?: boolean
  /** The git ref that the plan is compared with, and the result. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
  /** Defaults to `compact` for more than twelve changes. */
  readonly view?: 'compact' | 'detail' | undefined
  /** Whether to show the order of steps; by default only if it matters. */
  readonly steps?: boolean | undefined
}

export interface PlanFrame extends Pick<PlanContext, 'takenAt' | 'now' | 'overridesWindows'> {
  readonly plan: Plan
  readonly isCompact: boolean
  readonly style: Style
  readonly paint: Paint
  /** Project titles by id. */
  readonly titleOf: (project: string) => string
  /** By change: consents that it needs in addition to a yes. */
  readonly consents: ReadonlyMap<string, readonly Consent[]>
  /** By change: cost, service updates and expiry. */
  readonly remarks: ReturnType<typeof remarksOf>
}

/** The consents that each change needs, except for restarts, which a yes covers. */
export const requiredConsents = ({ steps }: Plan): PlanFrame['consents'] =>
  new Map(
    [...groupBy(steps, ({ change }) => change)].map(([change, own]) => [
      change,
      CONSENTS.filter((consent) => consent !== 'restart' && own.some(({ consents }) => consents.includes(consent))),
    ]),
  )
