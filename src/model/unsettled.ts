/** Which computes are unsettled: a failed operation may have left them without their values. */
import { groupBy, parseTime } from '../base/index.ts'
import { type Diagnostic, warning } from './diagnostic.ts'
import { isIdle, type ObservedCompute, type ObservedProject } from './observed.ts'
import type { Plan } from './plan.ts'
import { operationEnd, type Repair, type SeenOperation, type Settlement, type UnsettledCompute } from './settlement.ts'
import { computeTitle } from './titles.ts'

const STARTS = ['start_compute', 'start_reserved_compute', 'create_compute']
const CONFIGURES = ['apply_config', ...STARTS]

/**
 * The actions that can leave a compute unsettled in its present state. An idle compute reads its configuration when it
 * starts, so a failed `apply_config` leaves nothing to do. A disabled compute must not run, so it has to be suspended.
 */
const actionsThatMatter = ({ state, attributes: { disabled } }: ObservedCompute): readonly string[] => {
  if (disabled === true) return state === 'idle' ? [] : ['suspend_compute']
  return state === 'idle' ? STARTS : CONFIGURES
}

/** How to settle a compute after a failed operation, or `undefined` if nothing needs to be done. */
export const repairOf = (compute: ObservedCompute, action: string): Repair | undefined => {
  if (!actionsThatMatter(compute).includes(action)) return undefined
  if (action === 'suspend_compute') return 'suspend'
  return compute.state === 'active' ? 'restart' : 'start'
}

/** Whether an operation has settled its compute: it runs with its configuration now. */
export const settlesCompute = ({ action, status }: Pick<SeenOperation, 'action' | 'status'>): boolean =>
  status === 'finished' && CONFIGURES.includes(action)

const DAY_MS = 24 * 60 * 60_000
/** If no compute of a project has changed for longer than this, its operations are not read. */
const LOOK_BACK_MS = 30 * DAY_MS

/** Whether one of the computes has changed so recently that the project's operations are worth reading. */
export const hasRecentChange = (computes: readonly ObservedCompute[], now: number): boolean =>
  computes.some(({ updatedAt }) => (parseTime(updatedAt) ?? now) >= now - LOOK_BACK_MS)

/**
 * Finds the computes on which an operation that starts or configures them ended badly, unless something has settled them
 * since: a later operation that finished, or a start after it. Operations of anybody count, also those that an
 * application starts by creating a role or a database.
 *
 * @param operations newest first.
 * @param since the time from which the operations are complete.
 */
export const settlementOf = (
  computes: readonly ObservedCompute[],
  operations: readonly SeenOperation[],
  { now, since }: { readonly now: number; readonly since: number },
): Settlement => {
  const operationsOf = groupBy(operations, ({ endpointId }) => endpointId)
  const unsettled: UnsettledCompute[] = []
  const open: Settlement['open'][number][] = []
  const unknown: string[] = []
  for (const compute of computes) {
    const matters = actionsThatMatter(compute)
    // `apply_config` finishes only on a compute that runs with the configuration, so it settles a failed start too.
    const settles = matters === STARTS ? CONFIGURES : matters
    const own = (operationsOf.get(compute.id) ?? []).filter(({ action }) => settles.includes(action))
    const finished = own.findIndex(({ status }) => status === 'finished')
    const startedAt = parseTime(compute.startedAt) ?? 0
    const left = own.slice(0, finished < 0 ? own.length : finished).filter(
      // Times are in whole seconds. A start in the same second does not count, but its operation does.
      ({ action, updatedAt }) => matters.includes(action) && !(startedAt > Date.parse(updatedAt)),
    )
    const ends = left.map((operation) => operationEnd(operation, now - Date.parse(operation.updatedAt)))
    const bad = left.filter((_, at) => ends[at] === 'bad')
    // If an operation fails, later ones are cancelled, so the failure is the cause.
    const cause = bad.find(({ status }) => status !== 'cancelled') ?? bad[0]
    const repair = cause && repairOf(compute, cause.action)
    if (cause !== undefined && repair !== undefined) {
      const { id, action, status, updatedAt } = cause
      unsettled.push({ id: compute.id, operation: { id, action, status, updatedAt }, repair })
    } else if (finished < 0 && matters.length > 0 && mayBeOlder(compute, now, since)) unknown.push(compute.id)
    const running = left.filter((_, at) => ends[at] === undefined)
    open.push(...running.map(({ id }) => ({ compute: compute.id, operation: id })))
  }
  return { unsettled, open, unknown }
}

/** Whether an operation from before `since` may have left the compute unsettled. */
const mayBeOlder = (compute: ObservedCompute, now: number, since: number): boolean => {
  const { startedAt, suspendedAt, createdAt } = compute
  const changedAt = parseTime(compute.updatedAt) ?? now
  const restedAt = Math.max(parseTime(startedAt) ?? 0, isIdle(compute) ? (parseTime(suspendedAt) ?? 0) : 0)
  if (changedAt <= restedAt || changedAt < now - LOOK_BACK_MS) return false
  return (parseTime(startedAt) ?? parseTime(createdAt) ?? 0) < since
}

/** An unsettled compute, and where it is. */
export interface LocatedUnsettled extends UnsettledCompute {
  readonly project: string
  readonly compute: ObservedCompute
  readonly branch: string
}

/** The unsettled computes. Those that no manifest declares are left out, if it is known which these are. */
export const unsettledIn = (
  projects: readonly ObservedProject[],
  { unmanaged }: Pick<Plan, 'unmanaged'> = { unmanaged: [] },
): readonly LocatedUnsettled[] => {
  const others = new Set(unmanaged.map(({ compute }) => compute.id))
  return projects.flatMap(({ id: project, branches, computes, settlement }) =>
    (settlement?.unsettled ?? []).flatMap((one) => {
      const compute = computes.find(({ id }) => id === one.id)
      if (compute === undefined || others.has(one.id)) return []
      const branch = branches.find(({ id }) => id === compute.branchId)?.name ?? compute.branchId
      return [{ ...one, project, compute, branch }]
    }),
  )
}

/** `espalier compute restart ep-x --project shop` */
export const repairCommand = (repair: Repair, compute: string, project: string): string =>
  `espalier compute ${repair} ${compute} --project ${project}`

const LEFT: Readonly<Record<Repair, string>> = {
  restart: 'Its new values are stored but probably not in effect.',
  start: 'It did not start.',
  suspend: 'It is disabled, but still runs.',
}

const REPAIRED: Readonly<Record<Repair, string>> = {
  restart: 'To put them into effect, which drops its connections',
  start: 'To start it',
  suspend: 'To end its connections and suspend it',
}

export const unsettledWarning = ({ id, operation, repair, project, compute, branch }: LocatedUnsettled): Diagnostic => {
  const title = `${computeTitle({ type: compute.type, name: compute.attributes.name })} on branch \`${branch}\``
  return warning(
    'W_UNSETTLED',
    `The last ${operation.action} of the ${title} of project \`${project}\` (${id}) ended as ${operation.status}: operation ${operation.id}. ${LEFT[repair]}`,
    `${REPAIRED[repair]}, run \`${repairCommand(repair, id, project)}\`.`,
  )
}

/** A note about the computes of which it is not known whether they are settled; `undefined` if there are none. */
export const unknownSettlement = (projects: readonly ObservedProject[]): string | undefined => {
  const ids = projects.flatMap(({ settlement }) => settlement?.unknown ?? [])
  return ids.length === 0
    ? undefined
    : `Whether an operation has left ${ids.join(', ')} unsettled is unknown, because newer operations hide it.`
}
