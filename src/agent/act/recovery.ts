/** Recovers the state of an apply from its journal, after the agent was killed. */
import { hasEnded, optionalRead, type ReadApi, type WriteApi } from '../../api/index.ts'
import { waitForOperations } from '../../apply/index.ts'
import {
  type Clock,
  compare,
  DEFAULT_TIMEOUT_MS,
  defined,
  EspalierError,
  fileProblem,
  readIfExists,
} from '../../base/index.ts'
import {
  type ApplyEvent,
  handoversIn,
  type Observation,
  type Observed,
  type ObservedProject,
  type Plan,
  type Step,
  settlementOf,
} from '../../model/index.ts'
import type { ProjectFile } from '../data-folder.ts'
import { jsonIn } from '../lease.ts'

export interface Interrupted {
  readonly plan: Plan
  readonly started: ReadonlySet<string>
  readonly done: ReadonlySet<string>
  /** What each step did to connections, by its id. */
  readonly observed: ReadonlyMap<string, Observation>
  /** When the last event was recorded, in milliseconds since the epoch. */
  readonly at: number
  /** Whether the apply ended, which is the case if the journal contains its outcome. */
  readonly hasEnded: boolean
}

/**
 * Reads a journal. Returns `undefined` if there is none, or if it ends before the plan. In either case, no request was
 * sent. Its last line may be cut off: an event is on disk before the call that it announces.
 *
 * @throws {EspalierError} `E_AGENT_DATA` if it cannot be read, or another line is damaged, so that it is unknown what was
 *   sent.
 */
export const readJournal = async (path: string): Promise<Interrupted | undefined> => {
  const text = await readIfExists(path).catch((cause: unknown) => {
    throw unreadable(path, fileProblem(cause))
  })
  const events = (text ?? '').split('\n').flatMap((line, index, { length }) => {
    if (line === '') return []
    const event = jsonIn(line)
    if (event === undefined && index < length - 1) throw unreadable(path, `its line ${index + 1} is damaged`)
    return event === undefined ? [] : [event as ApplyEvent]
  })
  const plan = events.flatMap((event) => (event.type === 'plan' ? [event.plan] : []))[0]
  if (plan === undefined) return undefined
  return {
    plan,
    started: new Set(events.flatMap((event) => (event.type === 'step-start' ? [event.step.id] : []))),
    done: new Set(
      events.flatMap((event) =>
        event.type === 'step-end' && event.outcome.status === 'done' ? [event.outcome.step] : [],
      ),
    ),
    observed: new Map(
      events.flatMap((event) =>
        event.type === 'step-end' && event.outcome.observation !== undefined
          ? [[event.outcome.step, event.outcome.observation] as const]
          : [],
      ),
    ),
    at: Date.parse(events.at(-1)?.time ?? ''),
    hasEnded: events.some(({ type }) => type === 'outcome'),
  }
}

const unreadable = (path: string, why: string): EspalierError =>
  new EspalierError(
    'E_AGENT_DATA',
    `The journal ${path} of an apply that was cut short cannot be read (${why}), so nothing is applied. Make it readable, or check the project's computes and delete the file.`,
  )

/** Ids of the changes in progress and of their computes. The apply caused their differences, so they are not drift. */
export const movedBy = ({ plan, started }: Pick<Interrupted, 'plan' | 'started'>): string[] =>
  plan.steps
    .filter(({ id }) => started.has(id))
    .flatMap(({ change, compute }) => [change, ...(compute.id === undefined ? [] : [compute.id])])

/** The changes whose chains have started but are not complete. The steps of a chain depend on each other. */
export const begunChanges = ({
  plan,
  started,
  done,
}: Pick<Interrupted, 'plan' | 'started' | 'done'>): readonly string[] => {
  const begun = chainsOf(plan.steps).filter(
    (steps) => steps.length > 1 && steps.some(({ id }) => started.has(id)) && steps.some(({ id }) => !done.has(id)),
  )
  return [...new Set(begun.flat().map(({ change }) => change))]
}

/**
 * These chains together with what is known of them from earlier applies. Their version is the last one that they ran
 * with, because a later one may no longer say how to complete them.
 */
export const withChains = (
  known: ProjectFile['chain'],
  changes: readonly string[],
  plan: Plan,
  version: string,
): ProjectFile['chain'] => {
  const ids = new Set(changes)
  const lost = handoversIn(plan).filter(({ frees, fills }) => ids.has(frees.change) || ids.has(fills.change))
  const branches = new Set([...(known?.branches ?? []), ...lost.map(({ fills }) => fills.branch.name)])
  const hasRun = plan.steps.some(({ change }) => ids.has(change))
  const ranWith = hasRun ? version : (known?.version ?? version)
  return ids.size === 0 ? undefined : { version: ranWith, changes: [...ids], branches: [...branches] }
}

const chainsOf = (steps: readonly Step[]): readonly (readonly Step[])[] => {
  const chains: Step[][] = []
  for (const step of steps) {
    const needed = step.after.filter((id) => step.inTurnAfter?.includes(id) !== true)
    const own = chains.filter((chain) => chain.some(({ id, change }) => needed.includes(id) || change === step.change))
    for (const chain of own) chains.splice(chains.indexOf(chain), 1)
    chains.push([...own.flat(), step])
  }
  return chains
}

/** Branches that have lost their primary, and the number of steps that are left to give them another. */
export interface Gap {
  readonly branches: readonly string[]
  readonly steps: number
}

type Progress = Pick<Interrupted, 'plan' | 'started' | 'done'>

/** The gap that a running apply has opened. */
export const openedGap = ({ plan, started, done }: Progress): Gap | undefined => {
  const chains = new Set(begunChanges({ plan, started, done }))
  const left = plan.steps.filter(({ id, change }) => chains.has(change) && !done.has(id))
  const lost = handoversIn(plan).filter(({ frees, fills }) => started.has(frees.id) && !done.has(fills.id))
  const branches = [...new Set(lost.map(({ fills }) => fills.branch.name))]
  return branches.length === 0 ? undefined : { branches, steps: left.length }
}

/** The gap of a chain, which is those of its branches that have no primary. */
export const remainingGap = (branches: readonly string[], steps: number, { projects }: Observed): Gap | undefined => {
  const without = projects.flatMap((project) => {
    const taken = new Set(project.computes.flatMap(({ type, branchId }) => (type === 'read_write' ? [branchId] : [])))
    return project.branches.flatMap(({ id, name }) => (branches.includes(name) && !taken.has(id) ? [name] : []))
  })
  return without.length === 0 ? undefined : { branches: without, steps }
}

/** Whether these steps give all branches of the gap their primaries. */
export const closesGap = (steps: readonly Step[], { branches }: Gap): boolean =>
  branches.every((name) =>
    steps.some(
      ({ kind, compute, branch, reason }) =>
        (kind === 'create' || kind === 'move') &&
        compute.type === 'read_write' &&
        branch.name === name &&
        reason !== 'PARKED',
    ),
  )

/** Waits for all running operations, no matter who started them, because their effect shows only when they end. */
export const waitForRunningOperations = async (api: ReadApi, project: string, clock: Clock): Promise<void> => {
  const { operations } = await api.listOperations(project, { limit: 100 })
  const open = operations.filter((operation) => !hasEnded(operation, clock))
  if (open.length === 0) return
  await waitForOperations(open, {
    api,
    clock,
    project,
    timeoutMs: DEFAULT_TIMEOUT_MS,
    signal: undefined,
    onProgress: async () => undefined,
  })
}

type Failed = ProjectFile['failedOperations']

/**
 * The failed operations of the agent that nothing has settled since. They are read by their ids, because the list may
 * be older.
 */
export const unresolvedFailures = async (
  api: WriteApi,
  { id: project, computes }: ObservedProject,
  failed: Failed,
  now: number,
): Promise<Failed> => {
  const { operations } = await api.listOperations(project, { limit: 200 })
  const own = await Promise.all(
    Object.values(failed).map(({ operation }) => optionalRead(api.getOperation(project, operation))),
  )
  const read = new Map([...operations, ...own.filter((one) => one !== undefined)].map((one) => [one.id, one]))
  const newestFirst = [...read.values()].sort((a, b) => compare(b.createdAt, a.createdAt))
  const { unsettled, open } = settlementOf(computes, newestFirst, { now, since: 0 })
  const repairs = new Map(unsettled.map(({ id, repair }) => [id, repair]))
  const isOpen = new Set(open.map(({ operation }) => operation))
  return Object.fromEntries(
    Object.entries(failed).flatMap(([compute, { operation, message }]) => {
      const repair = repairs.get(compute)
      const isLeft = repair !== undefined || isOpen.has(operation)
      return isLeft ? [[compute, { operation, message, ...defined({ repair }) }]] : []
    }),
  )
}
