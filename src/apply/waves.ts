/** Divides a plan into waves. A wave starts only when the earlier waves are done and their computes are settled. */
import { optionalRead } from '../api/index.ts'
import { counted, groupBy } from '../base/index.ts'
import {
  endedWell,
  isUnderWay,
  type LocatedUnsettled,
  leftOutIds,
  type Observed,
  type Plan,
  type PlanWave,
  repairCommand,
  repairOf,
  type Step,
  type StepOutcome,
  settlesCompute,
  unsettledIn,
} from '../model/index.ts'
import { notStarted, type RunContext } from './context.ts'
import { waitForOperations } from './wait/operations.ts'

export interface Wave {
  readonly steps: readonly Step[]
  /** The waves before this one, also those without steps. */
  readonly earlier: readonly PlanWave[]
}

/** The steps by wave, in order. Those of projects in no wave come last. */
export const wavesOf = ({ waves = [], steps }: Plan): readonly Wave[] => {
  const position = new Map(waves.flatMap(({ projects }, at) => projects.map((project) => [project, at] as const)))
  return [...groupBy(steps, ({ project }) => position.get(project) ?? waves.length)]
    .sort(([a], [b]) => a - b)
    .map(([at, own]) => ({ steps: own, earlier: waves.slice(0, at) }))
}

type Outcomes = ReadonlyMap<string, StepOutcome>

/**
 * Why a wave must not start, or `undefined` if the earlier waves are done.
 *
 * @param unsettled finds the unsettled computes of these projects.
 */
export const waveBlockedBy = async (
  plan: Plan,
  { earlier }: Wave,
  outcomes: Outcomes,
  unsettled: (projects: readonly string[]) => Promise<readonly LocatedUnsettled[]>,
): Promise<((step: Step) => StepOutcome) | undefined> => {
  const skipped = (message: string) => (step: Step) => notStarted(step, 'skipped', 'depends-on-failed', message)
  const leftOut = new Set(leftOutIds(plan))
  const undone = earlier.flatMap(({ name, projects }) => {
    const own = plan.steps.filter(({ project }) => projects.includes(project))
    const open = own.flatMap(({ id }) => outcomes.get(id) ?? []).filter(({ status }) => status !== 'done')
    return open.length === 0 ? [] : [{ name, open }]
  })
  const unplanned = earlier.find(({ projects }) => projects.some((project) => leftOut.has(project)))
  const [first] = undone
  if (first !== undefined) {
    const message = `An earlier wave, ${first.name}, has ${counted(first.open.length, 'unfinished step')}.`
    const isOnlyWaiting = unplanned === undefined && first.open.every(isScheduled)
    return isOnlyWaiting ? (step) => notStarted(step, 'scheduled', 'outside-window', message) : skipped(message)
  }
  if (unplanned !== undefined) return skipped(`A project in an earlier wave, ${unplanned.name}, could not be planned.`)
  const [one] = await unsettled(earlier.flatMap(({ projects }) => projects))
  const its = earlier.find(({ projects }) => one !== undefined && projects.includes(one.project))
  if (one === undefined || its === undefined) return undefined
  const { id, project, operation, repair } = one
  return skipped(
    `An earlier wave, ${its.name}, is not settled: ${operation.action} ${operation.id} on ${id} of project ${project} ${isUnderWay(operation) ? 'has not ended' : `ended as ${operation.status}`}. To settle it, run \`${repairCommand(repair, id, project)}\`, then \`espalier apply\` again.`,
  )
}

const isScheduled = ({ status }: StepOutcome): boolean => status === 'scheduled'

type Waiting = Pick<RunContext, 'api' | 'clock' | 'operationTimeoutMs' | 'abort'>

/**
 * Finds the unsettled computes of projects, whoever has left them so. What a step of this run has settled is left out.
 * Waits for operations that were running when the projects were read, because they may still fail.
 */
export const unsettledFinder = (plan: Plan, observed: Observed, context: Waiting, outcomes: Outcomes) => {
  const failedSince = new Map<string, Promise<readonly LocatedUnsettled[]>>()
  const isSettled = ({ id }: { readonly id: string }): boolean =>
    [...outcomes.values()].some(
      ({ status, computeId, operations }) => status === 'done' && computeId === id && operations.some(settlesCompute),
    )
  return async (projects: readonly string[]): Promise<readonly LocatedUnsettled[]> => {
    const own = observed.projects.filter(({ id }) => projects.includes(id))
    const known = unsettledIn(own, plan)
    const found = await Promise.all(
      own.map((project) => {
        const failed = failedSince.get(project.id) ?? waitFor(project, plan, context)
        failedSince.set(project.id, failed)
        return failed
      }),
    )
    return [...known, ...found.flat()].filter((one) => !isSettled(one))
  }
}

/** Waits for the open operations of a project. Returns the computes that they leave unsettled. */
const waitFor = async (
  project: Observed['projects'][number],
  plan: Plan,
  { api, clock, operationTimeoutMs, abort }: Waiting,
): Promise<readonly LocatedUnsettled[]> => {
  const unmanaged = new Set(plan.unmanaged.map(({ compute }) => compute.id))
  const open = (project.settlement?.open ?? []).filter(({ compute }) => !unmanaged.has(compute))
  const started = await Promise.all(
    open.map(({ operation }) => optionalRead(api.getOperation(project.id, operation, { signal: abort }))),
  )
  const waited = await waitForOperations(
    started.filter((operation) => operation !== undefined),
    {
      api,
      clock,
      project: project.id,
      timeoutMs: operationTimeoutMs,
      signal: abort,
      onProgress: async () => undefined,
    },
  )
  const bad = waited.operations.filter((operation) => !endedWell(operation))
  const computeOf = new Map(open.map(({ compute, operation }) => [operation, compute]))
  const found = await Promise.all(
    bad.map(async ({ id, action, status }) => {
      const compute = await optionalRead(api.getCompute(project.id, computeOf.get(id) ?? '', { signal: abort }))
      const repair = compute && repairOf(compute, action)
      if (compute === undefined || repair === undefined) return []
      const operation = { id, action, status, updatedAt: '' }
      return [{ id: compute.id, project: project.id, branch: compute.branchId, compute, operation, repair }]
    }),
  )
  return found.flat()
}
