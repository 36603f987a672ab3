/**
 * Parses the response of `GET /projects/{id}`. No plan depends on these fields, so invalid ones are ignored. The owner's
 * name and e-mail address are never stored.
 */
import { z } from 'zod'
import { defined } from '../base/index.ts'
import { ID, type ProjectSettings, SIZE_TABLE } from '../model/index.ts'

export interface ProjectDetails {
  readonly id: string
  readonly name: string
  readonly settings: ProjectSettings
}

const orNothing = <T extends z.ZodType>(shape: T) => shape.nullish().catch(undefined)
const text = z.string().max(100)
const seconds = z.number().nonnegative()
const cu = z.number().positive().max(10_000)
const time = z.string().regex(/^\d\d:\d\d$/)

const details = z.looseObject({
  id: z.string().regex(ID),
  name: z.string(),
  default_endpoint_settings: orNothing(
    z.looseObject({
      autoscaling_limit_min_cu: orNothing(cu),
      autoscaling_limit_max_cu: orNothing(cu),
      suspend_timeout_seconds: orNothing(z.int()),
    }),
  ),
  owner: orNothing(z.looseObject({ subscription_type: orNothing(text) })),
  settings: orNothing(
    z.looseObject({
      quota: orNothing(
        z.looseObject({ active_time_seconds: orNothing(seconds), compute_time_seconds: orNothing(seconds) }),
      ),
      maintenance_window: orNothing(
        z.object({ weekdays: z.array(z.int().min(1).max(7)), start_time: time, end_time: time }),
      ),
    }),
  ),
  maintenance_scheduled_for: orNothing(text),
  consumption_period_start: orNothing(z.string().refine((value) => !Number.isNaN(Date.parse(value)))),
  consumption_period_end: orNothing(z.string().refine((value) => !Number.isNaN(Date.parse(value)))),
})

type Wire = z.infer<typeof details>

export const projectAnswer = z
  .looseObject({ project: details })
  .transform(({ project }): ProjectDetails => ({ id: project.id, name: project.name, settings: settingsOf(project) }))

const settingsOf = (wire: Wire): ProjectSettings => {
  const { owner, settings, maintenance_scheduled_for: scheduled } = wire
  const { consumption_period_start: start, consumption_period_end: end } = wire
  const { quota, maintenance_window: window } = settings ?? {}
  return defined({
    subscription: owner?.subscription_type ?? undefined,
    computeDefaults: unlessEmpty(defaultsOf(wire)),
    // 0 means that there is no quota.
    quota: unlessEmpty(
      defined({
        activeSeconds: quota?.active_time_seconds || undefined,
        computeSeconds: quota?.compute_time_seconds || undefined,
      }),
    ),
    maintenanceWindow: window ? { weekdays: window.weekdays, from: window.start_time, to: window.end_time } : undefined,
    maintenanceScheduledFor: scheduled ?? undefined,
    period: start == null || end == null ? undefined : { start, end },
  })
}

const unlessEmpty = <T extends object>(value: T): T | undefined => (Object.keys(value).length === 0 ? undefined : value)

/** Ignores sizes that no compute can have: they must mean something else. */
const defaultsOf = ({ default_endpoint_settings: given }: Wire): NonNullable<ProjectSettings['computeDefaults']> => {
  const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max, suspend_timeout_seconds: timeout } = given ?? {}
  const isSize = min != null && max != null && min <= max && max <= (SIZE_TABLE.steps.at(-1)?.cu ?? max)
  return defined({ size: isSize ? { min, max } : undefined, scaleToZero: timeout ?? undefined })
}
