/** All records, with indexes. */
import {
  type BranchRecord,
  type ComputeRecord,
  isOver,
  type KeyRecord,
  type OperationRecord,
  type ProjectRecord,
  type WorldChange,
  type WorldRecord,
} from './records.ts'

/** The number of operations that are kept for each project. The service deletes operations after six months instead. */
const OPERATIONS_KEPT = 10_000

export interface ProjectTables {
  readonly project: ProjectRecord
  readonly branches: Map<string, BranchRecord>
  readonly computes: Map<string, ComputeRecord>
  /** Oldest first. */
  readonly operations: Pick<OperationRecord, 'id' | 'createdAtUs'>[]
  readonly operationById: Map<string, OperationRecord>
  readonly unfinished: Map<string, OperationRecord>
}

export class Tables {
  readonly projects = new Map<string, ProjectTables>()
  /** All keys, by their digests. */
  readonly keys = new Map<string, KeyRecord>()
  #projectIds: readonly string[] | undefined
  /**
   * The project of each branch and each compute, by the id of the branch or compute, which is unique in all projects.
   */
  readonly #home = new Map<string, string>()

  apply(change: WorldChange): void {
    if ('put' in change) this.#put(change.put)
    else this.#drop(change.drop.kind, change.drop.id)
  }

  /** In the order of the API's project list. */
  projectIds(): readonly string[] {
    this.#projectIds ??= [...this.projects.keys()].sort()
    return this.#projectIds
  }

  has(id: string): boolean {
    return this.#home.has(id)
  }

  clear(): void {
    this.projects.clear()
    this.keys.clear()
    this.#home.clear()
    this.#projectIds = undefined
  }

  /** Finds a compute in any project. */
  compute(id: string): ComputeRecord | undefined {
    return this.projects.get(this.#home.get(id) ?? '')?.computes.get(id)
  }

  /** Finds a branch in any project. */
  branch(id: string): BranchRecord | undefined {
    return this.projects.get(this.#home.get(id) ?? '')?.branches.get(id)
  }

  /** All records, as changes that recreate them. */
  *dump(): Iterable<WorldChange> {
    for (const key of this.keys.values()) yield { put: key }
    for (const { project, branches, computes, operations, operationById } of this.projects.values()) {
      yield { put: project }
      for (const branch of branches.values()) yield { put: branch }
      for (const compute of computes.values()) yield { put: compute }
      for (const { id } of operations) {
        const operation = operationById.get(id)
        if (operation !== undefined) yield { put: operation }
      }
    }
  }

  #put(record: WorldRecord): void {
    if (record.kind === 'key') {
      this.keys.set(record.id, record)
      return
    }
    if (record.kind === 'project') {
      const known = this.projects.get(record.id)
      if (known === undefined) this.#projectIds = undefined
      this.projects.set(record.id, {
        ...(known ?? {
          branches: new Map(),
          computes: new Map(),
          operations: [],
          operationById: new Map(),
          unfinished: new Map(),
        }),
        project: record,
      })
      return
    }
    const tables = this.projects.get(record.projectId)
    if (tables === undefined) throw new Error(`a ${record.kind} of the unknown project ${record.projectId}`)
    if (record.kind === 'operation') {
      putOperation(tables, record)
      return
    }
    if (record.kind === 'branch') tables.branches.set(record.id, record)
    else tables.computes.set(record.id, record)
    this.#home.set(record.id, record.projectId)
  }

  #drop(kind: WorldRecord['kind'], id: string): void {
    const tables = this.projects.get(this.#home.get(id) ?? '')
    if (kind === 'compute') tables?.computes.delete(id)
    if (kind === 'branch') tables?.branches.delete(id)
    this.#home.delete(id)
  }
}

export const computesOf = ({ computes }: ProjectTables, id: string): readonly ComputeRecord[] =>
  [...computes.values()].filter(({ branchId }) => branchId === id)

export const primaryOf = (tables: ProjectTables, branchId: string): ComputeRecord | undefined =>
  computesOf(tables, branchId).find(({ type }) => type === 'read_write')

export const defaultBranch = (branches: ProjectTables['branches']): BranchRecord | undefined =>
  [...branches.values()].find(({ isDefault }) => isDefault)

/** The last operation of a compute, or of a branch itself. */
export const lastOperation = (
  { operations, operationById }: ProjectTables,
  { computeId, branchId }: Pick<OperationRecord, 'computeId' | 'branchId'>,
): OperationRecord | undefined => {
  const all = operations.map(({ id }) => operationById.get(id))
  return all.findLast((one) => one?.computeId === computeId && (computeId !== undefined || one?.branchId === branchId))
}

const putOperation = (tables: ProjectTables, record: OperationRecord): void => {
  if (!tables.operationById.has(record.id)) {
    const { id, createdAtUs } = record
    // If the snapshot already includes the log, replaying the log may add operations that have been dropped since.
    if (createdAtUs <= (tables.operations.at(-1)?.createdAtUs ?? 0)) return
    tables.operations.push({ id, createdAtUs })
  }
  tables.operationById.set(record.id, record)
  if (isOver(record)) tables.unfinished.delete(record.id)
  else tables.unfinished.set(record.id, record)
  // Operations are dropped in batches, which keeps the cost of adding one constant.
  if (tables.operations.length > OPERATIONS_KEPT * 1.1) {
    for (const { id } of tables.operations.splice(0, tables.operations.length - OPERATIONS_KEPT)) {
      tables.operationById.delete(id)
    }
  }
}

// The past states of projects, for lists that show an old state.

type Listed = ComputeRecord | OperationRecord

interface Entry {
  readonly time: number
  readonly projectId: string
  readonly kind: Listed['kind']
  readonly id: string
  /** `undefined` if the record did not exist. */
  readonly before: Listed | undefined
}

/** How many changes are remembered. This is enough for lists that show the state from a few seconds ago. */
const KEPT = 5_000

export class History {
  #entries: Entry[] = []

  /** Call this before the change is made. */
  note(time: number, change: WorldChange, all: Tables): void {
    const { kind, id } = 'put' in change ? change.put : change.drop
    if (kind !== 'compute' && kind !== 'operation') return
    const record = 'put' in change && change.put.kind === kind ? change.put : all.compute(id)
    const tables = all.projects.get(record?.projectId ?? '')
    if (tables === undefined) return
    const before = kind === 'compute' ? tables.computes.get(id) : tables.operationById.get(id)
    this.#entries.push({ time, projectId: tables.project.id, kind, id, before })
    // Changes are dropped in batches, which keeps the cost of adding one constant.
    if (this.#entries.length > KEPT * 2) this.#entries = this.#entries.slice(-KEPT)
  }

  clear(): void {
    this.#entries = []
  }

  at(tables: ProjectTables, time: number): ProjectTables {
    const computes = new Map(tables.computes)
    const operationById = new Map(tables.operationById)
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index]
      if (entry === undefined || entry.time <= time) break
      if (entry.projectId !== tables.project.id) continue
      const { before, id } = entry
      if (before === undefined) (entry.kind === 'compute' ? computes : operationById).delete(id)
      else if (before.kind === 'compute') computes.set(id, before)
      else operationById.set(id, before)
    }
    return {
      ...tables,
      computes,
      operationById,
      operations: tables.operations.filter(({ id }) => operationById.has(id)),
    }
  }
}
