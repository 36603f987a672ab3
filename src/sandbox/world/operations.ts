/** Runs operations (docs/reference/control-api.md). After its duration, an operation finishes, fails or is cancelled. */
import { messageOf } from '../../base/index.ts'
import type { SandboxClock } from '../clock.ts'
import { type BranchSource, type ComputeSpec, type Computes, SKIPPED } from '../computes/computes.ts'
import type { BranchRecord, ComputeRecord, OperationRecord, WorldRecord } from './records.ts'
import type { Tables } from './tables.ts'

/** An injected fault. */
export type OperationFault =
  | { readonly kind: 'fail' | 'error'; readonly message: string }
  | { readonly kind: 'cancel' | 'skip' | 'hang' }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'restart' | 'live' }

/** An operation that has failed this many times is not retried. */
const MOST_FAILURES = 3
/** Its failures are not retried, because the next round checks again. */
const CHECK = 'check_availability'
/** The delay before the first retry. It doubles with each further failure. */
const RETRY_MS = 1_000

interface OperationHost {
  readonly clock: SandboxClock
  readonly tables: Tables
  readonly at: (time: number, task: () => void) => void
  readonly store: (records: readonly WorldRecord[]) => void
  readonly faultOf: (operation: OperationRecord) => OperationFault | undefined
  readonly begin: (operation: OperationRecord) => Promise<unknown> | undefined
}

export type OperationRunner = ReturnType<typeof operationRunner>

export const operationRunner = ({ clock, tables, at, store, faultOf, begin }: OperationHost) => {
  let isStopped = false

  /** False once the operation has ended or its project was deleted, which cancels it while its work goes on. */
  const isOpen = ({ id, projectId }: OperationRecord): boolean =>
    tables.projects.get(projectId)?.unfinished.has(id) === true

  const run = (requested: OperationRecord): void => {
    const fault = faultOf(requested)
    const isRule = fault?.kind !== 'restart' && fault?.kind !== 'live'
    const operation = isRule ? requested : { ...requested, restarts: fault.kind === 'restart' }
    if (fault?.kind === 'hang') return
    const extra = fault?.kind === 'slow' ? fault.ms : 0
    const due = (operation.startedAt ?? clock.now()) + operation.durationMs + extra
    const endAs = (change: Partial<OperationRecord>) => at(due, () => end({ ...operation, ...change }))
    switch (fault?.kind) {
      case 'fail':
        at(due, () => fail(operation, fault.message))
        break
      case 'error':
        endAs({ status: 'error', error: fault.message })
        break
      case 'skip':
        endAs({ status: 'skipped' })
        break
      case 'cancel':
        store([{ ...operation, status: 'cancelling', updatedAt: clock.now() }])
        endAs({ status: 'cancelled' })
        break
      default:
        work(operation, due, extra)
    }
  }

  /**
   * Finishes the operation at `due` or, if the work on the compute backend takes longer, `extra` milliseconds after that
   * work is done.
   */
  const work = (operation: OperationRecord, due: number, extra: number): void => {
    const finish = (result?: unknown): void => end({ ...operation, status: result === SKIPPED ? SKIPPED : 'finished' })
    const settle = (act: () => void): void => {
      if (isStopped) return
      const time = Math.max(due, clock.now() + extra)
      if (time <= clock.now()) act()
      else at(time, act)
    }
    const done = begin(operation)
    if (done === undefined) at(due, finish)
    else {
      void done.then(
        (result) => settle(() => finish(result)),
        (error: unknown) => settle(() => fail(operation, messageOf(error))),
      )
    }
  }

  /** Retries the operation later, unless it has failed too often. */
  const fail = (operation: OperationRecord, error: string): void => {
    if (!isOpen(operation)) return
    const failures = (operation.failures ?? 0) + 1
    const failed: OperationRecord = { ...operation, status: 'failed', failures, error }
    if (failures >= MOST_FAILURES || operation.action === CHECK) {
      end(failed)
      return
    }
    const retryAt = clock.now() + RETRY_MS * 2 ** (failures - 1)
    const waiting = { ...failed, retryAt, updatedAt: clock.now() }
    store([waiting])
    retry(waiting, retryAt)
  }

  const retry = (operation: OperationRecord, time: number): void => {
    at(time, () => {
      if (isOpen(operation)) runAgain(operation)
    })
  }

  const runAgain = (operation: OperationRecord, effects: readonly WorldRecord[] = []): OperationRecord => {
    const again = started({ ...operation, retryAt: undefined })
    store([...effects, again])
    run(again)
    return again
  }

  const started = (operation: OperationRecord): OperationRecord => {
    const now = clock.now()
    return { ...operation, status: 'running', startedAt: now, updatedAt: now }
  }

  /**
   * Ends an operation. If it finished or was skipped, the operation that waits for it is started. Otherwise, that
   * operation is cancelled.
   */
  const end = (ending: OperationRecord): void => {
    if (!isOpen(ending)) return
    const now = clock.now()
    const isFinished = ending.status === 'finished'
    const ended = { ...ending, updatedAt: now, error: isFinished ? undefined : ending.error }
    const effects = (isFinished ? finishOperation : abandonOperation)(ended, tables, now)
    const next = waitingFor(ended)
    const running = next !== undefined && (isFinished || ended.status === 'skipped') ? started(next) : undefined
    store([...effects, ended, ...(running === undefined ? [] : [running])])
    if (running !== undefined) run(running)
    else if (next !== undefined) end({ ...next, status: 'cancelled' })
  }

  const waitingFor = ({ id, projectId }: OperationRecord): OperationRecord | undefined => {
    const unfinished = tables.projects.get(projectId)?.unfinished.values() ?? []
    return [...unfinished].find(({ waitsFor }) => waitsFor === id)
  }

  return {
    run,
    retry: (failed: OperationRecord): OperationRecord => runAgain(failed, resumeOperation(failed, tables, clock.now())),
    /** Call this for each unfinished operation after the sandbox was restarted. */
    resume: (operation: OperationRecord): void => {
      if (operation.status === 'running' || operation.status === 'cancelling') run(operation)
      if (operation.retryAt !== undefined) retry(operation, operation.retryAt)
    },
    /** From now on, the outcome of work that is still running on the compute backend is ignored. */
    stop: (): void => {
      isStopped = true
    },
  }
}

// The effects of operations: their work on the compute backend, and the records that they change when they end.

/** Starts the work of an operation on the compute backend. Returns `undefined` if there is no such work. */
export const beginOperation = (
  operation: OperationRecord,
  tables: Tables,
  computes: Computes,
  specOf: (compute: ComputeRecord) => ComputeSpec,
): Promise<unknown> | undefined => {
  const compute = tables.compute(operation.computeId ?? '')
  switch (operation.action) {
    case 'create_branch':
      return operation.restore === undefined
        ? computes.addBranch?.(operation.branchId, sourceOf(operation, tables))
        : computes.restoreBranch?.(operation.branchId, { id: operation.id, ...operation.restore })
    case 'delete_timeline':
      return computes.removeBranch?.(operation.branchId)
    case 'delete_tenant':
      return removeAll(operation, tables, computes)
    case 'start_compute':
      return compute === undefined ? undefined : computes.start?.(specOf(compute))
    case CHECK:
      return compute === undefined ? undefined : computes.check?.(specOf(compute))
    case 'suspend_compute':
      return compute === undefined ? computes.forget(operation.computeId ?? '') : computes.stop(compute.id)
    case 'apply_config':
      if (compute === undefined) return undefined
      if (compute.state === 'active') {
        return operation.restarts === true ? computes.restart(specOf(compute)) : computes.configure?.(specOf(compute))
      }
      // An idle compute is started to apply its new configuration, then suspended (public OpenAPI, update example).
      return computes.start?.(specOf(compute))
    default:
      return undefined
  }
}

const sourceOf = ({ projectId, branchId }: OperationRecord, tables: Tables): BranchSource | undefined => {
  const branch = tables.projects.get(projectId)?.branches.get(branchId)
  if (branch?.schemaOf !== undefined) return { branchId: branch.schemaOf, isSchemaOnly: true }
  return branch?.parentId === undefined ? undefined : { branchId: branch.parentId, isSchemaOnly: false }
}

/** Deletes the data of all branches of a project. The records of the branches are kept, but clients cannot see them. */
const removeAll = ({ projectId }: OperationRecord, tables: Tables, computes: Computes): Promise<void> | undefined => {
  const branches = [...(tables.projects.get(projectId)?.branches.keys() ?? [])]
  const removals = branches.flatMap((id) => computes.removeBranch?.(id) ?? [])
  return removals.length === 0 ? undefined : Promise.all(removals).then(() => undefined)
}

/** The records that change when an operation finishes (docs/reference/control-api.md). */
const finishOperation = (operation: OperationRecord, all: Tables, now: number): readonly WorldRecord[] => {
  const tables = all.projects.get(operation.projectId)
  const branch = tables?.branches.get(operation.branchId)
  const compute = tables?.computes.get(operation.computeId ?? '')
  switch (operation.action) {
    case 'create_branch':
    case 'create_timeline':
    case 'timeline_unarchive':
      return [branch, tables?.branches.get(operation.restore?.preserveAs ?? '')].flatMap((made) =>
        made === undefined ? [] : [{ ...made, state: 'ready' as const, stateChangedAt: now, updatedAt: now }],
      )
    case 'timeline_archive':
      return branch === undefined ? [] : [{ ...branch, state: 'archived', stateChangedAt: now, updatedAt: now }]
    case 'tenant_detach':
      return tables === undefined ? [] : [{ ...tables.project, isDetached: true }]
    case 'tenant_attach':
    case 'tenant_reattach':
      return tables === undefined ? [] : [{ ...tables.project, isDetached: false }]
    case 'start_compute':
      return compute === undefined ? [] : [settle(compute, 'active', now), ...withoutChanges(branch, compute)]
    case 'suspend_compute':
      return compute === undefined ? [] : [settle(compute, 'idle', now)]
    case 'apply_config':
      // If the compute must become idle again, its state is set by the suspension that follows.
      if (compute === undefined) return []
      if (compute.pendingState !== 'active') return withoutChanges(branch, compute)
      return [
        operation.restarts === true ? settle(compute, 'active', now) : withNothingPending(compute, now),
        ...withoutChanges(branch, compute),
      ]
    default:
      return []
  }
}

/**
 * Removes the pending changes to roles and databases, because a primary that was started or configured has made them.
 */
const withoutChanges = (
  branch: BranchRecord | undefined,
  { type, branchId }: ComputeRecord,
): readonly BranchRecord[] => {
  if (branch?.changes === undefined || branch.id !== branchId || type !== 'read_write') return []
  return [{ ...branch, changes: undefined }]
}

/**
 * For an operation that failed or was cancelled. Its compute or branch keeps its state, and no change remains pending.
 */
const abandonOperation = (operation: OperationRecord, all: Tables, now: number): readonly WorldRecord[] => {
  // A check changes nothing, also if a client starts the compute in the meantime.
  if (operation.action === CHECK) return []
  const compute = all.compute(operation.computeId ?? '')
  if (compute !== undefined) return [withNothingPending(compute, now)]
  const branch = all.projects.get(operation.projectId)?.branches.get(operation.branchId)
  return branch?.state === 'resetting' ? [{ ...branch, state: 'ready', stateChangedAt: now, updatedAt: now }] : []
}

/** For an operation that was abandoned and runs again: what it changes is pending again. */
const resumeOperation = (operation: OperationRecord, all: Tables, now: number): readonly WorldRecord[] => {
  const compute = all.compute(operation.computeId ?? '')
  const pendingState = operation.action === 'suspend_compute' ? 'idle' : 'active'
  if (compute !== undefined) return operation.action === CHECK ? [] : [{ ...compute, pendingState, updatedAt: now }]
  const branch = operation.restore === undefined ? undefined : all.branch(operation.branchId)
  return branch === undefined ? [] : [{ ...branch, state: 'resetting', stateChangedAt: now, updatedAt: now }]
}

/** Sets the state of a compute. If another state was requested in the meantime, that state remains pending. */
const settle = (compute: ComputeRecord, state: 'active' | 'idle', now: number): ComputeRecord => ({
  ...compute,
  state,
  pendingState: compute.pendingState === state ? undefined : compute.pendingState,
  updatedAt: now,
  ...(state === 'idle' ? { suspendedAt: now } : { startedAt: now, lastActive: now }),
})

const withNothingPending = (compute: ComputeRecord, now: number): ComputeRecord => ({
  ...compute,
  pendingState: undefined,
  updatedAt: now,
})

/**
 * How long operations take, in milliseconds. The service does not document its durations. These are long enough for a
 * user to follow what happens.
 */
export type Durations = Readonly<Record<string, number>>

export const DURATIONS: Durations = {
  start_compute: 700,
  suspend_compute: 400,
  apply_config: 1_500,
  create_branch: 1_000,
  delete_timeline: 600,
  create_timeline: 1_000,
  timeline_unarchive: 1_000,
}

/** The operations that take only as long as the work of Postgres if computes are real. */
const WORK = ['start_compute', 'suspend_compute', 'apply_config', 'create_branch', 'create_timeline', 'delete_timeline']
export const WORK_DURATIONS: Durations = Object.fromEntries(WORK.map((action) => [action, 0]))

const OTHER_MS = 500
/** By what fraction durations may be shorter or longer by default. */
const SPREAD = 0.1
const GOLDEN_RATIO = 0.618_033_988_749_895

/**
 * The duration of an operation. It varies from one operation to the next, but the same history always results in the
 * same durations.
 *
 * @param ordinal the index of the operation in its project. It is multiplied by the golden ratio, because the multiples
 *   are spread evenly over the range.
 */
export const durationOf = (action: string, ordinal: number, durations: Durations, spread = SPREAD): number => {
  const place = (ordinal * GOLDEN_RATIO) % 1
  return Math.round((durations[action] ?? OTHER_MS) * (1 + spread * (2 * place - 1)))
}
