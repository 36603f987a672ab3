/** Runs operations (docs/control-api.md): each takes its time, then finishes, fails or is cancelled. */
import { messageOf } from '../../base/index.ts'
import type { SandboxClock } from '../clock/clock.ts'
import { abandonOperation, finishOperation } from './finish.ts'
import type { OperationRecord, WorldRecord } from './records.ts'
import type { Tables } from './tables.ts'

/** An injected fault. */
export type OperationFault =
  | { readonly kind: 'fail' | 'error'; readonly message: string }
  | { readonly kind: 'cancel' | 'skip' | 'hang' }
  | { readonly kind: 'slow'; readonly ms: number }

/** An operation that failed this often is not retried. */
const MOST_FAILURES = 3
/** Delay before the first retry; it doubles with each further failure. */
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

export class OperationRunner {
  readonly #host: OperationHost
  #stopped = false

  constructor(host: OperationHost) {
    this.#host = host
  }

  /** Ignores the outcome of work that is still running on the compute backend. */
  stop(): void {
    this.#stopped = true
  }

  /** Call after a restart of the sandbox. */
  resume(operation: OperationRecord): void {
    if (operation.status === 'running' || operation.status === 'cancelling') this.run(operation)
    if (operation.retryAt !== undefined) this.#retry(operation, operation.retryAt)
  }

  run(operation: OperationRecord): void {
    const fault = this.#host.faultOf(operation)
    if (fault?.kind === 'hang') return
    const extra = fault?.kind === 'slow' ? fault.ms : 0
    const due = (operation.startedAt ?? this.#host.clock.now()) + operation.durationMs + extra
    const endAs = (end: Partial<OperationRecord>) => this.#host.at(due, () => this.#end({ ...operation, ...end }))
    switch (fault?.kind) {
      case 'fail':
        this.#host.at(due, () => this.#fail(operation, fault.message))
        break
      case 'error':
        endAs({ status: 'error', error: fault.message })
        break
      case 'skip':
        endAs({ status: 'skipped' })
        break
      case 'cancel':
        this.#host.store([{ ...operation, status: 'cancelling', updatedAt: this.#host.clock.now() }])
        endAs({ status: 'cancelled' })
        break
      default:
        this.#work(operation, due)
    }
  }

  /** Finishes at `due`, or when the work on the compute backend is done if that takes longer. */
  #work(operation: OperationRecord, due: number): void {
    const finish = (): void => this.#end({ ...operation, status: 'finished' })
    const settle = (end: () => void): void => {
      if (this.#stopped) return
      if (due <= this.#host.clock.now()) end()
      else this.#host.at(due, end)
    }
    const work = this.#host.begin(operation)
    if (work === undefined) this.#host.at(due, finish)
    else {
      void work.then(
        () => settle(finish),
        (error: unknown) => settle(() => this.#fail(operation, messageOf(error))),
      )
    }
  }

  /** Retries the operation later, unless it has failed too often. */
  #fail(operation: OperationRecord, error: string): void {
    const failures = (operation.failures ?? 0) + 1
    const failed: OperationRecord = { ...operation, status: 'failed', failures, error }
    if (failures >= MOST_FAILURES) {
      this.#end(failed)
      return
    }
    const retryAt = this.#host.clock.now() + RETRY_MS * 2 ** (failures - 1)
    const waiting = { ...failed, retryAt, updatedAt: this.#host.clock.now() }
    this.#host.store([waiting])
    this.#host.log(waiting)
    this.#retry(waiting, retryAt)
  }

  #retry({ retryAt: _past, ...operation }: OperationRecord, time: number): void {
    this.#host.at(time, () => {
      const now = this.#host.clock.now()
      const again: OperationRecord = { ...operation, status: 'running', startedAt: now, updatedAt: now }
      this.#host.store([again])
      this.#host.log(again)
      this.run(again)
    })
  }

  /** Starts the operation that waits for this one, or cancels it if this one failed. */
  #end(ending: OperationRecord): void {
    const now = this.#host.clock.now()
    const { error, ...rest } = ending
    const isFinished = ending.status === 'finished'
    const ended: OperationRecord = { ...rest, updatedAt: now, ...(error === undefined || isFinished ? {} : { error }) }
    const isSuccess = isFinished || ended.status === 'skipped'
    const effects = (isFinished ? finishOperation : abandonOperation)(ended, this.#host.tables, now)
    const next = this.#waitingFor(ended)
    const running =
      isSuccess && next !== undefined
        ? { ...next, status: 'running' as const, startedAt: now, updatedAt: now }
        : undefined
    this.#host.store([...effects, ended, ...(running === undefined ? [] : [running])])
    this.#host.log(ended)
    if (running !== undefined) {
      this.#host.log(running)
      this.run(running)
    } else if (next !== undefined) this.#end({ ...next, status: 'cancelled' })
  }

  #waitingFor({ id, projectId }: OperationRecord): OperationRecord | undefined {
    const tables = this.#host.tables.projects.get(projectId)
    for (const candidate of tables?.unfinished ?? []) {
      const operation = tables?.operationById.get(candidate)
      if (operation?.waitsFor === id) return operation
    }
    return undefined
  }
}
