/** The compute sizes and the limits of the account plans, which `espalier explain sizes` prints. */
import { group } from '../../base/index.ts'
import { SIZE_TABLE, TIERS, TIERS_VERSION, type TierLimit } from '../../model/index.ts'
import { allowedTimes } from '../../service/index.ts'
import { paintOf, type Style } from './style.ts'

export const sizesTable = (style: Style): string => {
  const paint = paintOf(style)
  const { steps, autoscalingMaxCu, listedConnectionsCu, scaleToZeroMaxCu, maxSpreadCu, version } = SIZE_TABLE
  const sizes = steps.map(({ cu, ramGb, cacheGb, maxConnections }) =>
    row([
      String(cu),
      `${ramGb} GB`,
      `${cacheGb} GB`,
      `${group(maxConnections)}${cu > listedConnectionsCu ? ' or more' : ''}`,
      cu <= autoscalingMaxCu ? 'yes' : 'no',
      cu <= scaleToZeroMaxCu ? 'yes' : 'no',
    ]),
  )
  const tiers = TIERS.map(({ name, fixedCu, autoscalingCu, scaleToZero, replicas, cuHours }) =>
    tierRow([
      name,
      limit(fixedCu, ' CU'),
      limit(autoscalingCu, ' CU'),
      limit(replicas),
      limit(cuHours),
      scaleToZero === undefined ? 'any' : allowedTimes(scaleToZero),
    ]),
  )
  return `${[
    paint.bold(row(['CU', 'RAM', 'cache', 'connections', 'autoscales', 'to zero'])),
    ...sizes,
    '',
    `Autoscaling: max at most ${maxSpreadCu} CU above min. Table ${version}.`,
    '',
    paint.bold(tierRow(['tier', 'fixed', 'autoscaling', 'replicas', 'CU-hours', 'scaleToZero'])),
    ...tiers,
    '',
    `Limits of the account plans, per project and month. Table ${TIERS_VERSION}.`,
  ].join('\n')}\n`
}

/** A column is wider than its longest cell. */
const SIZE_WIDTHS = [6, 12, 12, 15, 12, 12]

const row = (cells: readonly string[]): string =>
  cells.map((cell, index) => cell.padStart(SIZE_WIDTHS[index] ?? 0)).join('')

const tierRow = ([name = '', ...cells]: readonly string[]): string => {
  const times = cells.pop() ?? ''
  return `${name.padEnd(12)}${cells.map((cell) => cell.padStart(12)).join('')}  ${times}`
}

const limit = (found: TierLimit | undefined, unit = ''): string => (found === undefined ? 'any' : `${found.max}${unit}`)
