/** What the parts of a plan need beyond the changes that they show. */
import { groupBy } from '../../base/index.ts'
import { CONSENTS, type Consent, type Origin, type Plan } from '../../model/index.ts'
import type { Paint, Style } from './style.ts'

export interface PlanContext {
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** When the plan is read, ISO 8601: decides which restart windows are open. */
  readonly now?: string
  /** `--now`: steps run outside of their windows too. */
  readonly overridesWindows?: boolean
  /** Since which commit, and what was so before. */
  readonly since?: { readonly ref: string; readonly origin: Origin }
  /** A line for each change, or all of its attributes; absent: by how many there are. */
  readonly view?: 'compact' | 'detail' | undefined
  /** Show the order of steps even if it does not matter. */
  readonly steps?: boolean | undefined
}

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
