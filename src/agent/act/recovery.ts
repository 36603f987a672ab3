/** Recovers the state of an apply from its journal, after the agent was killed. */
import { readFile } from 'node:fs/promises'
import { hasEnded, type ReadApi, type WriteApi } from '../../api/index.ts'
import { waitForOperations } from '../../apply/index.ts'
import type { Clock } from '../../base/index.ts'
import { type ApplyEvent, DEFAULT_TIMEOUT_MS, type Observed, type Plan, type Step } from '../../model/index.ts'
import type { ProjectFile } from '../data-folder.ts'

export interface Interrupted {
  readonly plan: Plan
  readonly started: ReadonlySet<string>
  readonly done: ReadonlySet<string>
  /** Whether the apply ended, which is the case if the journal contains its outcome. */
  readonly hasEnded: boolean
}

/**
 * Reads a journal. Returns `undefined` if there is none, or if it ends before the plan. In either case, no request was
 * sent.
 */
export const readJournal = async (path: string): Promise<Interrupted | undefined> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  const events = text.split('\n').flatMap(eventOf)
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
    hasEnded: events.some(({ type }) => type === 'outcome'),
  }
}

/** The last line may be truncated. */
const eventOf = (line: string): readonly ApplyEvent[] => {
  try {
    return line === '' ? [] : [JSON.parse(line) as ApplyEvent]
  } catch {
    return []
  }
}

/** Ids of the changes in progress and of their computes. The apply caused their differences, so they are not drift. */
export const movedBy = ({ plan, started }: Pick<Interrupted, 'plan' | 'started'>): string[] =>
  plan.steps
    .filter(({ id }) => started.has(id))
    .flatMap(({ change, compute }) => [change, ...(compute.id === undefined ? [] : [compute.id])])

/** The changes whose chains have started but are not complete. The steps of a chain depend on each other. */
export const begunChanges = ({ plan, started, done }: Omit<Interrupted, 'hasEnded'>): readonly string[] => {
  const begun = chainsOf(plan.steps).filter(
    (steps) => steps.length > 1 && steps.some(({ id }) => started.has(id)) && steps.some(({ id }) => !done.has(id)),
  )
  return [...new Set(begun.flat().map(({ change }) => change))]
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

/** Whether a branch that should get its primary from these steps has no primary now. */
export const leavesGap = (steps: readonly Step[], { projects }: Observed): boolean => {
  const taken = new Set(
    projects.flatMap(({ computes }) =>
      computes.flatMap(({ type, branchId }) => (type === 'read_write' ? [branchId] : [])),
    ),
  )
  return steps.some(
    ({ kind, compute, branch }) =>
      (kind === 'create' || kind === 'move') && compute.type === 'read_write' && !taken.has(branch.id),
  )
}

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

/** The failed operations that no later operation on the same compute has superseded. */
export const unresolvedFailures = async (api: WriteApi, project: string, failed: Failed): Promise<Failed> => {
  const { operations } = await api.listOperations(project, { limit: 200 })
  const isSuperseded = (compute: string, operation: string): boolean => {
    const at = operations.findIndex(({ id }) => id === operation)
    // The failed operation may have finished since, because the service retries.
    const later = at < 0 ? operations : operations.slice(0, at + 1)
    return later.some(({ endpointId, status }) => endpointId === compute && status === 'finished')
  }
  return Object.fromEntries(
    Object.entries(failed).filter(([compute, { operation }]) => !isSuperseded(compute, operation)),
  )
}
