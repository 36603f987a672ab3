/** The past states of projects, for lists that show an old state. */
import type { ComputeRecord, OperationRecord, WorldChange } from './records.ts'
import type { ProjectTables, Tables } from './tables.ts'

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
