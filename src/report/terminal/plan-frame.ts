/** The data that all sections of a plan need. */
import { groupBy } from '../../base/index.ts'
import { CONSENTS, type Consent, type Origin, type Plan } from '../../model/index.ts'
import type { remarksOf } from '../words/cost.ts'
import type { PlanNames } from '../words/names.ts'
import type { Paint, Style } from './style.ts'

export interface PlanContext {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** The current time, ISO 8601, which decides whether restart windows are open. */
  readonly now?: string
  /** Whether `--now` is given, so that steps also run while their restart windows are closed. */
  readonly overridesWindows?: boolean
  /** The git ref that the plan is compared with, and the result of the comparison. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
  /**
   * Whether to show all attributes of each change and the order of steps. By default, attributes are shown if there are
   * at most twelve changes, and then also the order of steps if it matters.
   */
  readonly detail?: boolean | undefined
}

export interface PlanFrame extends Pick<PlanContext, 'takenAt' | 'now' | 'overridesWindows'> {
  readonly plan: Plan
  readonly isCompact: boolean
  readonly style: Style
  readonly paint: Paint
  readonly names: PlanNames
  /** The consents that each change needs in addition to a yes, by the id of the change. */
  readonly consents: ReadonlyMap<string, readonly Consent[]>
  /** The remarks on each change about cost, service updates and expiry, by the id of the change. */
  readonly remarks: ReturnType<typeof remarksOf>
}

/** The consents that each change needs. Restarts are left out, because answering yes permits them. */
export const requiredConsents = ({ steps }: Plan): PlanFrame['consents'] =>
  new Map(
    [...groupBy(steps, ({ change }) => change)].map(([change, own]) => [
      change,
      CONSENTS.filter((consent) => consent !== 'restart' && own.some(({ consents }) => consents.includes(consent))),
    ]),
  )
