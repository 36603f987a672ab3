/** Runs operations (docs/control-api.md). After its duration, an operation finishes, fails or is cancelled. */
import { messageOf } from '../../base/index.ts'
import type { SandboxClock } from '../clock/clock.ts'
import { abandonOperation, finishOperation } from './operation-effects.ts'
import type { OperationRecord, WorldRecord } from './records.ts'
import type { Tables } from './tables.ts'

/** An injected fault. */
export type OperationFault =
  | { readonly kind: 'fail' | 'error'; readonly message: string }
  | { readonly kind: 'cancel' | 'skip' | 'hang' }
  | { readonly kind: 'slow'; readonly ms: number }

/** An operation that has failed this many times is not retried. */
const MOST_FAILURES = 3
/** The delay before the first retry. It doubles with each further failure. */
const RETRY_MS = 1_000

export interface OperationHost {
  readonly clock: SandboxClock
  readonly tables: Tables
  readonly at: (time: number, task: () => void) => void
  readonly store: (records: readonly WorldRecord[]) => void
  readonly log: (operation: OperationRecord) => void
  readonly faultOf: (operation: OperationRecord) => OperationFault | undefined
  readonly begin: (operation: OperationRecord) => Promise<void> | undefined
}

export type OperationRunner = ReturnType<typeof operationRunner>

export const operationRunner = ({ clock, tables, at, store, log, faultOf, begin }: OperationHost) => {
  let isStopped = false

  const run = (operation: OperationRecord): void => {
    const fault = faultOf(operation)
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
        work(operation, due)
    }
  }

  /** Finishes the operation at `due` or, if the work on the compute backend takes longer, when that work is done. */
  const work = (operation: OperationRecord, due: number): void => {
    const finish = (): void => end({ ...operation, status: 'finished' })
    const settle = (act: () => void): void => {
      if (isStopped) return
      if (due <= clock.now()) act()
      else at(due, act)
    }
    const done = begin(operation)
    if (done === undefined) at(due, finish)
    else {
      void done.then(
        () => settle(finish),
        (error: unknown) => settle(() => fail(operation, messageOf(error))),
      )
    }
  }

  /** Retries the operation later, unless it has failed too often. */
  const fail = (operation: OperationRecord, error: string): void => {
    const failures = (operation.failures ?? 0) + 1
    const failed: OperationRecord = { ...operation, status: 'failed', failures, error }
    if (failures >= MOST_FAILURES) {
      end(failed)
      return
    }
    const retryAt = clock.now() + RETRY_MS * 2 ** (failures - 1)
    const waiting = { ...failed, retryAt, updatedAt: clock.now() }
    store([waiting])
    log(waiting)
    retry(waiting, retryAt)
  }

  const retry = (operation: OperationRecord, time: number): void => {
    at(time, () => {
      const again = started({ ...operation, retryAt: undefined })
      store([again])
      log(again)
      run(again)
    })
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
    const now = clock.now()
    const isFinished = ending.status === 'finished'
    const ended = { ...ending, updatedAt: now, error: isFinished ? undefined : ending.error }
    const effects = (isFinished ? finishOperation : abandonOperation)(ended, tables, now)
    const next = waitingFor(ended)
    const running = next !== undefined && (isFinished || ended.status === 'skipped') ? started(next) : undefined
    store([...effects, ended, ...(running === undefined ? [] : [running])])
    log(ended)
    if (running !== undefined) {
      log(running)
      run(running)
    } else if (next !== undefined) end({ ...next, status: 'cancelled' })
  }

  const waitingFor = ({ id, projectId }: OperationRecord): OperationRecord | undefined => {
    const unfinished = tables.projects.get(projectId)?.unfinished.values() ?? []
    return [...unfinished].find(({ waitsFor }) => waitsFor === id)
  }

  return {
    run,
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
