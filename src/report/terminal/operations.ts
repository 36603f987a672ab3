/** Operations as the console lists them: a line each, so that any number can be told as they come. */

import { plainText, time } from '../words/index.ts'
import { pad, paintOf, type Style } from './style.ts'

export interface ListedOperation {
  readonly id: string
  readonly action: string
  readonly status: string
  readonly branchId?: string
  readonly endpointId?: string
  readonly failuresCount: number
  readonly createdAt: string
  readonly totalDurationMs?: number
  readonly error?: string
}

/** The console's four words (spec 2.1.2); a status that is none of them is shown as the API words it. */
const CONSOLE_WORDS: ReadonlyMap<string, string> = new Map([
  ['finished', 'OK'],
  ['scheduling', 'Scheduling'],
  ['running', 'In progress'],
  ['cancelling', 'In progress'],
  ['failed', 'Error'],
  ['error', 'Error'],
])

export const consoleStatus = (status: string): string => CONSOLE_WORDS.get(status) ?? status

const COLUMNS = [20, 24, 28, 12, 9, 21] as const

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, index) => pad(cell, COLUMNS[index] ?? 0))
    .join(' ')
    .trimEnd()

export const operationsHead = (style: Style): string =>
  paintOf(style).dim(line(['OPERATION', 'BRANCH', 'COMPUTE', 'STATUS', 'DURATION', 'DATE AND TIME', 'ID']))

/** @param branchName by id; one that is gone is shown by its id. */
export const operationLine = (
  operation: ListedOperation,
  branchName: ReadonlyMap<string, string>,
  style: Style,
): string => {
  const paint = paintOf(style)
  const status = consoleStatus(operation.status)
  const isBad = status === 'Error' || operation.status === 'cancelled'
  const text = line([
    plainText(operation.action),
    plainText(branchName.get(operation.branchId ?? '') ?? operation.branchId ?? ''),
    plainText(operation.endpointId ?? ''),
    plainText(status),
    operation.totalDurationMs === undefined || operation.totalDurationMs === 0 ? '' : time(operation.totalDurationMs),
    plainText(operation.createdAt),
    plainText(operation.id),
  ])
  const why = operation.error === undefined ? '' : `\n  ${plainText(operation.error)}`
  return isBad ? paint.red(text + why) : text + why
}
