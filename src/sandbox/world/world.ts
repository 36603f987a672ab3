/** The state of the control plane: its records, running operations and timers. */
import type { SandboxClock } from '../clock.ts'
import { newId, newUuid } from './ids.ts'
import { type Durations, durationOf, type OperationFault, type OperationRunner, operationRunner } from './operations.ts'
import {
  type BranchRecord,
  type ComputeRecord,
  isOver,
  type KeyRecord,
  type NewOperation,
  type OperationRecord,
  type ProjectRecord,
  type Store,
  type WorldChange,
  type WorldRecord,
} from './records.ts'
import { ApiError } from './requests.ts'
import { History, lastOperation, type ProjectTables, Tables } from './tables.ts'
import { UsageMeter } from './usage-meter.ts'

/** Its functions are called after a record was stored, and for every existing record when the world is restored. */
export interface Watcher {
  readonly project?: (project: ProjectRecord) => void
  readonly branch?: (branch: BranchRecord) => void
  readonly compute?: (compute: ComputeRecord) => void
  readonly computeDeleted?: (compute: ComputeRecord) => void
  /** Called when another world replaces this one, after all timers were cancelled. */
  readonly emptied?: () => void
}

export interface WorldOptions {
  readonly clock: SandboxClock
  readonly store: Store
  readonly keepsHistory: boolean
  readonly durations: Durations
  /** By what fraction durations may be shorter or longer. */
  readonly durationSpread?: number | undefined
  /** Starts the work of an operation on the compute backend. Returns `undefined` if there is nothing to wait for. */
  readonly begin: (operation: OperationRecord) => Promise<unknown> | undefined
  /** Called each time an operation starts. */
  readonly faultOf: (operation: OperationRecord) => OperationFault | undefined
  readonly log: (line: string) => void
  /** Returns a number in [0, 1), used for new ids. Default: the system's random bytes. */
  readonly random?: (() => number) | undefined
}

export class World {
  readonly clock: SandboxClock
  /** Whether a past state of a branch can be restored. Real computes keep only the current data. */
  readonly keepsHistory: boolean
  readonly tables = new Tables()
  readonly usage: UsageMeter
  readonly #options: WorldOptions
  readonly #timers = new Set<() => void>()
  readonly #history = new History()
  readonly #watchers: Watcher[] = []
  #runner: OperationRunner
  #lastOperationUs = 0

  constructor(options: WorldOptions) {
    this.clock = options.clock
    this.keepsHistory = options.keepsHistory
    this.#options = options
    this.#runner = this.#newRunner()
    this.usage = new UsageMeter(() => this.clock.now())
    this.watch({
      compute: (compute) => this.usage.note(compute),
      computeDeleted: (compute) => this.usage.forget(compute),
      emptied: () => this.usage.clear(),
    })
  }

  #newRunner(): OperationRunner {
    const { begin, faultOf } = this.#options
    return operationRunner({
      clock: this.clock,
      tables: this.tables,
      at: (time, task) => this.at(time, task),
      store: (records) => this.#store(records.map((put) => ({ put }))),
      faultOf,
      begin,
    })
  }

  watch(watcher: Watcher): void {
    this.#watchers.push(watcher)
  }

  /** Loads the store's records. Operations that were running continue. */
  restore(changes: Iterable<WorldChange>): void {
    for (const change of changes) this.tables.apply(change)
    for (const tables of this.tables.projects.values()) {
      const newest = tables.operations.at(-1)
      if (newest !== undefined) this.#lastOperationUs = Math.max(this.#lastOperationUs, newest.createdAtUs)
      for (const operation of tables.unfinished.values()) this.#runner.resume(operation)
      for (const branch of tables.branches.values()) this.#announce(branch)
      for (const compute of tables.computes.values()) this.#announce(compute)
      this.#announce(tables.project)
    }
  }

  /**
   * Runs `task` at `time` on the world's clock, unless the world is stopped first. Returns a function that cancels it.
   */
  at(time: number, task: () => void): () => void {
    const stop = this.clock.at(time, () => {
      this.#timers.delete(cancel)
      task()
    })
    const cancel = (): void => {
      this.#timers.delete(cancel)
      stop()
    }
    this.#timers.add(cancel)
    return cancel
  }

  /** Replaces this world with another one. */
  load(changes: readonly WorldChange[]): void {
    this.stop()
    this.#runner = this.#newRunner()
    const before = [...this.tables.projects.values()].flatMap(({ computes }) => [...computes.values()])
    this.tables.clear()
    this.#history.clear()
    this.#lastOperationUs = 0
    for (const watcher of this.#watchers) watcher.emptied?.()
    for (const compute of before) this.#announceDeletion(compute)
    this.restore(changes)
    this.#options.store.replace(this.tables.dump())
  }

  /** Unfinished operations continue when the store is opened again. */
  stop(): void {
    this.#runner.stop()
    for (const cancel of [...this.#timers]) cancel()
  }

  /** @throws {ApiError} 404. */
  project(id: string): ProjectTables {
    const tables = this.anyProject(id)
    if (tables.project.deletedAt !== undefined) throw new ApiError(404, 'project not found')
    return tables
  }

  /** Also finds a deleted project. @throws {ApiError} 404. */
  anyProject(id: string): ProjectTables {
    const tables = this.tables.projects.get(id)
    if (tables === undefined) throw new ApiError(404, 'project not found')
    return tables
  }

  newId(prefix: 'ep' | 'br'): string {
    return newId(prefix, (id) => this.tables.has(id), this.#options.random)
  }

  /** The project as it was at `time`. */
  projectAt(tables: ProjectTables, time: number): ProjectTables {
    return this.#history.at(tables, time)
  }

  /** @throws {ApiError} 404. */
  compute(projectId: string, id: string): ComputeRecord {
    const compute = this.project(projectId).computes.get(id)
    if (compute === undefined) throw new ApiError(404, 'endpoint not found')
    return compute
  }

  /** @throws {ApiError} 404. */
  branch(projectId: string, id: string): BranchRecord {
    const branch = this.project(projectId).branches.get(id)
    if (branch === undefined) throw new ApiError(404, 'branch not found')
    return branch
  }

  /**
   * Every request reattaches a detached project, so this operation does not lock it.
   *
   * @throws {ApiError} 404 if there is no such project, 423 while any other operation is running in it.
   */
  checkUnlocked(projectId: string): void {
    const { unfinished } = this.project(projectId)
    const running = [...unfinished.values()].find(({ action }) => action !== 'tenant_reattach')
    if (running === undefined) return
    const { id, action, computeId, branchId, status } = running
    const reason = `${action} of ${computeId ?? branchId} is ${status} (operation ${id})`
    const known = 'project already has running conflicting operations, scheduling of new ones is prohibited'
    throw new ApiError(423, `${known}: ${reason}`)
  }

  storeKey(put: KeyRecord): void {
    this.#store([{ put }])
  }

  /**
   * Writes the records and new operations to the store before it returns: either all of them or none. The first
   * operation runs immediately. Each of the others waits for the one before it.
   */
  commit(
    projectId: string,
    records: readonly WorldRecord[],
    operations: readonly NewOperation[] = [],
    drops: readonly (ComputeRecord | BranchRecord)[] = [],
  ): readonly OperationRecord[] {
    const started: OperationRecord[] = []
    const earlier = this.tables.projects.get(projectId)?.operations.length ?? 0
    for (const operation of operations) {
      started.push(this.#newOperation(projectId, operation, earlier + started.length, started.at(-1)))
    }
    this.#store([
      ...records.map((put) => ({ put })),
      ...started.map((put) => ({ put })),
      ...drops.map(({ kind, id }) => ({ drop: { kind, id } })),
    ])
    const [first] = started
    if (first !== undefined) this.#runner.run(first)
    return started
  }

  /**
   * Runs an operation again that has failed too often to be retried by itself. It keeps its id and its failures.
   *
   * @throws {ApiError} 404, 409 if the operation has not failed or its result could undo a later change, 423.
   */
  retry(id: string): OperationRecord {
    const tables = [...this.tables.projects.values()].find(({ operationById }) => operationById.has(id))
    const operation = tables?.operationById.get(id)
    if (tables === undefined || operation === undefined) throw new ApiError(404, 'operation not found')
    const { status, computeId } = operation
    if (!isOver(operation)) throw new ApiError(409, `the operation has not ended: its status is ${status}`)
    if (status !== 'failed') throw new ApiError(409, `the operation is ${status}, not failed`)
    if (computeId !== undefined && !tables.computes.has(computeId)) throw new ApiError(409, 'the endpoint was deleted')
    const last = lastOperation(tables, operation)
    if (last !== operation) throw new ApiError(409, `there is a later operation: ${last?.action} ${last?.id}`)
    this.checkUnlocked(tables.project.id)
    return this.#runner.retry(operation)
  }

  #newOperation(
    projectId: string,
    { action, branchId, computeId, restarts, restore }: NewOperation,
    ordinal: number,
    before?: OperationRecord,
  ): OperationRecord {
    const now = this.clock.now()
    // The time must be unique, because it is the cursor for pages of operations.
    this.#lastOperationUs = Math.max(Math.round(now * 1_000), this.#lastOperationUs + 1)
    return {
      kind: 'operation',
      id: newUuid(this.#options.random),
      projectId,
      branchId,
      computeId,
      action,
      status: before === undefined ? 'running' : 'scheduling',
      createdAtUs: this.#lastOperationUs,
      updatedAt: now,
      startedAt: before === undefined ? now : undefined,
      waitsFor: before?.id,
      durationMs: durationOf(action, ordinal, this.#options.durations, this.#options.durationSpread),
      restarts,
      restore,
    }
  }

  #store(changes: readonly WorldChange[]): void {
    this.#options.store.append(changes)
    for (const change of changes) {
      this.#history.note(this.clock.now(), change, this.tables)
      const gone = 'drop' in change ? this.tables.compute(change.drop.id) : undefined
      this.tables.apply(change)
      if (gone !== undefined) this.#announceDeletion(gone)
      if (!('put' in change)) continue
      this.#announce(change.put)
      this.#log(change.put)
    }
  }

  #announce(record: WorldRecord): void {
    for (const watcher of this.#watchers) {
      if (record.kind === 'compute') watcher.compute?.(record)
      if (record.kind === 'branch') watcher.branch?.(record)
      if (record.kind === 'project') watcher.project?.(record)
    }
  }

  #log(record: WorldRecord): void {
    if (record.kind !== 'operation') return
    const { id, projectId, action, status, computeId, branchId } = record
    this.#options.log(`operation  ${id}  ${projectId}  ${action}  ${computeId ?? branchId}  ${status}`)
  }

  #announceDeletion(compute: ComputeRecord): void {
    for (const watcher of this.#watchers) watcher.computeDeleted?.(compute)
  }
}
