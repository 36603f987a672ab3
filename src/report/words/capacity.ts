/** The capacity of the planned projects, before and after the plan is applied. */
import type { CapacityTotal, PlanSummary } from '../../model/index.ts'
import { number } from './counts.ts'

/** A range of values. If there is only one value, `from` and `to` are equal. */
export interface Range {
  readonly from: number
  readonly to: number
  /** `0.25–4 CU`. */
  readonly words: string
}

export interface Measure {
  readonly name: string
  readonly unit: string
  readonly before: Range
  readonly after: Range
}

export const measuresOf = ({ before, after }: PlanSummary['capacity']): readonly Measure[] => {
  const measure = (name: string, unit: string, of: (total: CapacityTotal) => readonly [number, number]): Measure => ({
    name,
    unit,
    before: rangeOf(of(before), unit),
    after: rangeOf(of(after), unit),
  })
  return [
    measure('computes', '', ({ computes }) => [computes, computes]),
    measure('size', ' CU', ({ minCu, maxCu }) => [minCu, maxCu]),
    measure('RAM', ' GB', ({ ramGb }) => [ramGb, ramGb]),
    measure('max_connections', '', ({ maxConnections }) => [maxConnections, maxConnections]),
  ]
}

const rangeOf = ([from, to]: readonly [number, number], unit: string): Range => ({
  from,
  to,
  words: `${from === to ? '' : `${number(from)}–`}${number(to)}${unit}`,
})
