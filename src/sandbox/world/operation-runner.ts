/** The life of operations (docs/control-api.md): each runs, takes its time, and ends well or not. */
import type { SandboxClock } from '../clock/clock.ts'
import type { OperationRecord, WorldRecord } from './records.ts'
import type { Tables } from './tables.ts'

/** How an operation is made to go wrong. */
export type OperationFault =
  | { readonly kind: 'fail' | 'error'; readonly message: string }
  | { readonly kind: 'cancel' | 'skip' | 'hang' }
  | { readonly kind: 'slow'; readonly ms: number }

/** A failed operation is tried again this often, each time after a longer pause. */
const MOST_FAILURES = 3
const RETRY_MS = 1_000

/** What the world gives to those who run its operations. */
export interface OperationHost {
  readonly clock: SandboxClock
  readonly tables: Tables
  readonly at: (time: number, task: () => void) => void
  readonly keep: (records: readonly WorldRecord[]) => void
  readonly log: (operation: OperationRecord) => void
  readonly faultOf: (operation: OperationRecord) => OperationFault | undefined
  readonly begin: (operation: OperationRecord) => Promise<void> | undefined
  readonly finish: (operation: OperationRecord) => readonly WorldRecord[]
  readonly abandon: (operation: OperationRecord) => readonly WorldRecord[]
}

export class OperationRunner {
  readonly #host: OperationHost
  #stopped = false

  constructor(host: OperationHost) {
    this.#host = host
  }

  /** Work that is still running behind the world ends without notice. */
  stop(): void {
    this.#stopped = true
  }

  /** After a restart of the sandbox. */
  resume(operation: OperationRecord): void {
    if (operation.status === 'running' || operation.status === 'cancelling') this.run(operation)
    if (operation.retryAt !== undefined) this.#retry(operation, operation.retryAt)
  }

  run(operation: OperationRecord): void {
    const fault = this.#host.faultOf(operation)
    if (fault?.kind === 'hang') return
    const extra = fault?.kind === 'slow' ? fault.ms : 0
    const due = (operation.startedAt ?? this.#host.clock.now()) + operation.durationMs + extra
    switch (fault?.kind) {
      case 'fail':
        this.#host.at(due, () => this.#fail(operation, fault.message))
        return
      case 'error':
        this.#host.at(due, () => this.#end({ ...operation, status: 'error', error: fault.message }))
        return
      case 'skip':
        this.#host.at(due, () => this.#end({ ...operation, status: 'skipped' }))
        return
      case 'cancel':
        this.#host.keep([{ ...operation, status: 'cancelling', updatedAt: this.#host.clock.now() }])
        this.#host.at(due, () => this.#end({ ...operation, status: 'cancelled' }))
        return
      default:
        this.#work(operation, due)
    }
  }

  /** It takes its time, and as long as what is behind the world needs. */
  #work(operation: OperationRecord, due: number): void {
    const work = this.#host.begin(operation)
    if (work === undefined) {
      this.#host.at(due, () => this.#end({ ...operation, status: 'finished' }))
      return
    }
    const failure = work.then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    void failure.then((message) => {
      if (this.#stopped) return
      const end = (): void => {
        if (message === undefined) this.#end({ ...operation, status: 'finished' })
        else this.#fail(operation, message)
      }
      if (due <= this.#host.clock.now()) end()
      else this.#host.at(due, end)
    })
  }

  /** Tried again later, unless it has failed too often. */
  #fail(operation: OperationRecord, error: string): void {
    const failures = (operation.failures ?? 0) + 1
    const failed: OperationRecord = { ...operation, status: 'failed', failures, error }
    if (failures >= MOST_FAILURES) {
      this.#end(failed)
      return
    }
    const retryAt = this.#host.clock.now() + RETRY_MS * 2 ** (failures - 1)
    const waiting = { ...failed, retryAt, updatedAt: this.#host.clock.now() }
    this.#host.keep([waiting])
    this.#host.log(waiting)
    this.#retry(waiting, retryAt)
  }

  #retry({ retryAt: _past, ...operation }: OperationRecord, time: number): void {
    this.#host.at(time, () => {
      const now = this.#host.clock.now()
      const again: OperationRecord = { ...operation, status: 'running', startedAt: now, updatedAt: now }
      this.#host.keep([again])
      this.#host.log(again)
      this.run(again)
    })
  }

  /** What waits for it runs now, or is cancelled if it did not end well. */
  #end(ending: OperationRecord): void {
    const now = this.#host.clock.now()
    const { error, ...rest } = ending
    const isFinished = ending.status === 'finished'
    const ended: OperationRecord = { ...rest, updatedAt: now, ...(error === undefined || isFinished ? {} : { error }) }
    const isWell = isFinished || ended.status === 'skipped'
    const effects = isFinished ? this.#host.finish(ended) : this.#host.abandon(ended)
    const next = this.#waitingFor(ended)
    const running =
      isWell && next !== undefined ? { ...next, status: 'running' as const, startedAt: now, updatedAt: now } : undefined
    this.#host.keep([...effects, ended, ...(running === undefined ? [] : [running])])
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
