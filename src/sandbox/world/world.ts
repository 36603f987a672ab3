/** The control plane's state: records, the operations that run on them, and time. */
import { randomUUID } from 'node:crypto'
import type { SandboxClock } from '../clock/clock.ts'
import type { Store } from '../store/store.ts'
import { type Durations, durationOf } from './durations.ts'
import { History } from './history.ts'
import { newId } from './ids.ts'
import { type OperationFault, OperationRunner } from './operation-runner.ts'
import type {
  BranchRecord,
  ComputeRecord,
  OperationRecord,
  ProjectRecord,
  WorldChange,
  WorldRecord,
} from './records.ts'
import { Refusal } from './refusal.ts'
import { type ProjectTables, Tables } from './tables.ts'

/** What an operation does to the world when it ends well, and when it does not. */
export interface Effects {
  readonly finish: (operation: OperationRecord, world: World) => readonly WorldRecord[]
  readonly abandon: (operation: OperationRecord, world: World) => readonly WorldRecord[]
  /** What is behind the world does its part; `undefined` where nothing has to be waited for. */
  readonly begin: (operation: OperationRecord, world: World) => Promise<void> | undefined
}

export interface WorldOptions {
  readonly clock: SandboxClock
  readonly store: Store
  readonly durations: Durations
  /** How far they vary to either side, as a share; the usual where it is left out. */
  readonly durationSpread?: number | undefined
  readonly effects: Effects
  /** Asked each time that an operation begins. */
  readonly faultOf: (operation: OperationRecord) => OperationFault | undefined
  /** Told of each project, when it comes and when it is there at the start. */
  readonly onProject: (project: ProjectRecord, world: World) => void
  /** Told after each change of a compute, for timers. */
  readonly onCompute: (compute: ComputeRecord, world: World) => void
  /** Told when a compute is there no more. */
  readonly onGone: (compute: ComputeRecord) => void
  readonly log: (line: string) => void
  /** From 0 up to 1: new ids come of it. Default: the machine's. */
  readonly random?: (() => number) | undefined
}

export interface NewOperation {
  readonly action: string
  readonly branchId: string
  readonly computeId?: string
  readonly restarts?: boolean
}

export class World {
  readonly clock: SandboxClock
  readonly tables = new Tables()
  readonly #options: WorldOptions
  readonly #timers = new Set<() => void>()
  readonly #history = new History()
  #runner: OperationRunner
  #lastOperationUs = 0

  constructor(options: WorldOptions) {
    this.clock = options.clock
    this.#options = options
    this.#runner = this.#newRunner()
  }

  #newRunner(): OperationRunner {
    const { effects, faultOf } = this.#options
    return new OperationRunner({
      clock: this.clock,
      tables: this.tables,
      at: (time, task) => this.at(time, task),
      keep: (records) => this.#keep(records.map((put) => ({ put }))),
      log: (operation) => this.#logOperation(operation),
      faultOf,
      begin: (operation) => effects.begin(operation, this),
      finish: (operation) => effects.finish(operation, this),
      abandon: (operation) => effects.abandon(operation, this),
    })
  }

  /** Takes up what the store holds: operations that were under way go on. */
  restore(changes: Iterable<WorldChange>): void {
    for (const change of changes) this.tables.apply(change)
    for (const tables of this.tables.projects.values()) {
      const newest = tables.operations.at(-1)
      if (newest !== undefined) this.#lastOperationUs = Math.max(this.#lastOperationUs, newest.createdAtUs)
      for (const id of tables.unfinished) {
        const operation = tables.operationById.get(id)
        if (operation !== undefined) this.#runner.resume(operation)
      }
      for (const compute of tables.computes.values()) this.#options.onCompute(compute, this)
      this.#options.onProject(tables.project, this)
    }
  }

  /** Runs `task` at `time` on the world's clock, unless it is taken back first or the world is stopped. */
  at(time: number, task: () => void): () => void {
    const cancel = this.clock.at(time, () => {
      this.#timers.delete(takeBack)
      task()
    })
    const takeBack = (): void => {
      this.#timers.delete(takeBack)
      cancel()
    }
    this.#timers.add(takeBack)
    return takeBack
  }

  /** Another world in the place of this one. */
  load(changes: readonly WorldChange[]): void {
    this.stop()
    this.#runner = this.#newRunner()
    const before = [...this.tables.projects.values()].flatMap(({ computes }) => [...computes.values()])
    this.tables.clear()
    this.#history.clear()
    // As if idle: no operation follows that would suspend them.
    for (const compute of before) this.#options.onGone({ ...compute, state: 'idle' })
    this.restore(changes)
    this.#options.store.replace(this.tables.dump())
  }

  /** Nothing happens any more; what was under way goes on when the store is opened again. */
  stop(): void {
    this.#runner.stop()
    for (const takeBack of [...this.#timers]) takeBack()
  }

  /** @throws {Refusal} 404. */
  project(id: string): ProjectTables {
    const tables = this.tables.projects.get(id)
    if (tables === undefined || tables.project.deletedAt !== undefined) throw new Refusal(404, 'project not found')
    return tables
  }

  newId(prefix: 'ep' | 'br'): string {
    return newId(prefix, (id) => this.tables.has(id), this.#options.random)
  }

  /** As it was at `time`. @throws {Refusal} 404. */
  projectAt(id: string, time: number): ProjectTables {
    return this.#history.at(this.project(id), time)
  }

  /** @throws {Refusal} 404. */
  compute(projectId: string, id: string): ComputeRecord {
    const compute = this.project(projectId).computes.get(id)
    if (compute === undefined) throw new Refusal(404, 'endpoint not found')
    return compute
  }

  /**
   * Refuses while anything runs on the project.
   *
   * @throws {Refusal} 423.
   */
  checkUnlocked(projectId: string): void {
    if (this.project(projectId).unfinished.size > 0) {
      const known = 'project already has running conflicting operations, scheduling of new ones is prohibited'
      throw new Refusal(423, `${known}: ${this.#running(projectId)}`)
    }
  }

  /** The operation that holds the lock, in words. */
  #running(projectId: string): string {
    const { unfinished, operationById } = this.project(projectId)
    const running = [...unfinished].map((id) => operationById.get(id)).find((operation) => operation !== undefined)
    if (running === undefined) return 'an operation is running'
    const { id, action, computeId, branchId, status } = running
    return `${action} of ${computeId ?? branchId} is ${status} (operation ${id})`
  }

  /** A project of its own, on which operations can run from now on. */
  found(project: ProjectRecord): void {
    this.#keep([{ put: project }])
    this.#options.onProject(project, this)
  }

  /**
   * Keeps records and starts operations, all or nothing: on disk before this returns. Of several operations the first
   * runs at once and each later one waits for the one before it.
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
    this.#keep([
      ...records.map((put) => ({ put })),
      ...started.map((put) => ({ put })),
      ...drops.map(({ kind, id }) => ({ drop: { kind, id } })),
    ])
    for (const operation of started) {
      this.#logOperation(operation)
      if (operation.status === 'running') this.#runner.run(operation)
    }
    return started
  }

  #newOperation(
    projectId: string,
    { action, branchId, computeId, restarts }: NewOperation,
    ordinal: number,
    before?: OperationRecord,
  ): OperationRecord {
    const now = this.clock.now()
    // Paging goes by this time, so no two operations may share it.
    this.#lastOperationUs = Math.max(Math.round(now * 1_000), this.#lastOperationUs + 1)
    return {
      kind: 'operation',
      id: randomUUID(),
      projectId,
      branchId,
      ...(computeId === undefined ? {} : { computeId }),
      action,
      status: before === undefined ? 'running' : 'scheduling',
      createdAtUs: this.#lastOperationUs,
      updatedAt: now,
      ...(before === undefined ? { startedAt: now } : { waitsFor: before.id }),
      durationMs: durationOf(action, ordinal, this.#options.durations, this.#options.durationSpread),
      ...(restarts === undefined ? {} : { restarts }),
    }
  }

  #logOperation({ id, projectId, action, status, computeId, branchId }: OperationRecord): void {
    this.#options.log(`operation  ${id}  ${projectId}  ${action}  ${computeId ?? branchId}  ${status}`)
  }

  #keep(changes: readonly WorldChange[]): void {
    this.#options.store.append(changes)
    for (const change of changes) {
      this.#noteBefore(change)
      const gone = 'drop' in change ? this.tables.compute(change.drop.id) : undefined
      this.tables.apply(change)
      if (gone !== undefined) this.#options.onGone(gone)
      if ('put' in change && change.put.kind === 'compute') this.#options.onCompute(change.put, this)
    }
  }

  #noteBefore(change: WorldChange): void {
    const { kind, id } = 'put' in change ? change.put : change.drop
    const projectId =
      'drop' in change || change.put.kind === 'key' || change.put.kind === 'project'
        ? this.tables.compute(id)?.projectId
        : change.put.projectId
    this.#history.note(this.clock.now(), kind, id, this.tables.projects.get(projectId ?? ''))
  }
}
