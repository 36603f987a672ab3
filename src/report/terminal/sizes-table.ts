/** The table of compute sizes that `espalier sizes` prints. */
import { group } from '../../base/index.ts'
import type { SizeTable } from '../../model/index.ts'
import { paintOf, type Style } from './style.ts'

export const sizesTable = (table: SizeTable, style: Style): string => {
  const paint = paintOf(style)
  const row = (cells: readonly string[]): string =>
    cells.map((cell, index) => cell.padStart(index === 0 ? 6 : 12)).join('')
  const lines = table.steps.map(({ cu, ramGb, cacheGb, maxConnections }) =>
    row([
      String(cu),
      `${ramGb} GB`,
      `${cacheGb} GB`,
      group(maxConnections),
      cu <= table.autoscalingMaxCu ? 'yes' : 'no',
      cu <= table.scaleToZeroMaxCu ? 'yes' : 'no',
    ]),
  )
  return `${[
    paint.bold(row(['CU', 'RAM', 'cache', 'connections', 'autoscales', 'to zero'])),
    ...lines,
    '',
    `Autoscaling: max at most ${table.maxSpreadCu} CU above min. Table ${table.version}; --size-table FILE replaces it.`,
  ].join('\n')}\n`
}
