/** Pages of the lists that have them. */
import type { OperationRecord } from '../world/records.ts'
import { Refusal } from '../world/refusal.ts'
import type { ProjectTables } from '../world/tables.ts'
import { microseconds, parseMicroseconds } from './present.ts'

const DEFAULT_LIMIT = 100

/** @throws {Refusal} 400 outside of 1 to `most`. */
export const readLimit = (text: string | undefined, most: number, byDefault = DEFAULT_LIMIT): number => {
  if (text === undefined || text === '') return byDefault
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > most) {
    throw new Refusal(400, `limit must be a whole number between 1 and ${most}`)
  }
  return limit
}

export interface OperationPage {
  readonly operations: readonly OperationRecord[]
  readonly cursor: string
}

/** Newest first; the cursor is the time of the page's last operation (spec 4.1). An empty page repeats the cursor given. */
export const operationPage = (tables: ProjectTables, limit: number, cursor: string | undefined): OperationPage => {
  const before = cursor === undefined || cursor === '' ? undefined : parseMicroseconds(cursor)
  if (cursor !== undefined && cursor !== '' && before === undefined) {
    throw new Refusal(400, 'cursor is not a timestamp that this list gave')
  }
  const end = before === undefined ? tables.operations.length : firstAtOrAfter(tables.operations, before)
  const operations: OperationRecord[] = []
  for (let index = end - 1; index >= 0 && operations.length < limit; index -= 1) {
    const operation = tables.operationById.get(tables.operations[index]?.id ?? '')
    if (operation !== undefined) operations.push(operation)
  }
  const last = operations.at(-1)
  return { operations, cursor: last === undefined ? (cursor ?? '') : microseconds(last.createdAtUs) }
}

/** By bisection: the list is in the order of creation. */
const firstAtOrAfter = (operations: readonly OperationRecord[], us: number): number => {
  let [low, high] = [0, operations.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((operations[middle]?.createdAtUs ?? 0) < us) low = middle + 1
    else high = middle
  }
  return low
}
