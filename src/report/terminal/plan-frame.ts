/** What the parts of a plan need beyond the changes that they show. */
import { groupBy } from '../../base/index.ts'
import { CONSENTS, type Consent, type Plan } from '../../model/index.ts'
import type { PlanContext } from './plan.ts'
import type { Paint, Style } from './style.ts'

export interface PlanFrame extends Pick<PlanContext, 'now' | 'overridesWindows'> {
  readonly plan: Plan
  readonly style: Style
  readonly paint: Paint
  /** What a project is called, by its id. */
  readonly titleOf: (project: string) => string
  /** By change, what must be allowed beyond a yes. */
  readonly consents: ReadonlyMap<string, readonly Consent[]>
  /** By change, its cost, and a service update that it meets. */
  readonly remarks: ReadonlyMap<string, readonly string[]>
}

/** A restart is covered by a yes. */
export const requiredConsents = ({ steps }: Plan): PlanFrame['consents'] =>
  new Map(
    [...groupBy(steps, ({ change }) => change)].map(([change, own]) => [
      change,
      CONSENTS.filter((consent) => consent !== 'restart' && own.some(({ consents }) => consents.includes(consent))),
    ]),
  )
