/** Shared by the sections of a plan. */
import { groupBy } from '../../base/index.ts'
import { CONSENTS, type Consent, type Origin, type Plan } from '../../model/index.ts'
import type { Paint, Style } from './style.ts'

export interface PlanContext {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** The current time, ISO 8601, which decides whether restart windows are open. */
  readonly now?: string
  /** `--now`: steps run outside their windows too. */
  readonly overridesWindows?: boolean
  /** The base, and the comparison with it. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
  /** Default: by the number of changes. */
  readonly view?: 'compact' | 'detail' | undefined
  /** Default: show the order of steps if it matters. */
  readonly steps?: boolean | undefined
}

export interface PlanFrame extends Pick<PlanContext, 'now' | 'overridesWindows'> {
  readonly plan: Plan
  readonly style: Style
  readonly paint: Paint
  /** The title of a project, by id. */
  readonly titleOf: (project: string) => string
  /** By change: the consents needed in addition to a yes. */
  readonly consents: ReadonlyMap<string, readonly Consent[]>
  /** By change: cost, service updates and expiry. */
  readonly remarks: ReadonlyMap<string, readonly string[]>
}

/** Without restarts, which a yes covers. */
export const requiredConsents = ({ steps }: Plan): PlanFrame['consents'] =>
  new Map(
    [...groupBy(steps, ({ change }) => change)].map(([change, own]) => [
      change,
      CONSENTS.filter((consent) => consent !== 'restart' && own.some(({ consents }) => consents.includes(consent))),
    ]),
  )
