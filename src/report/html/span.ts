/** The time in which a step runs, which is either estimated or measured. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Timescale {
  /** `ms`, or `turn` if durations are unknown, in which case each step takes one turn. */
  readonly unit: 'ms' | 'turn'
  /** The value at the end of the axis. It is above 0. */
  readonly end: number
}

/** A position on the axis, in percent. */
export const percent = (value: number, { end }: Timescale): string =>
  `${Math.round(Math.min(1, Math.max(0, value / end)) * 10_000) / 100}%`

const STEPS = [1, 2, 5]
const MOST_TICKS = 7

/** At most seven round values, starting at 0. */
export const ticks = ({ end, unit }: Timescale): readonly number[] => {
  const bases =
    unit === 'ms' ? [100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000] : [1, 10, 100, 1_000, 10_000]
  const widths = bases.flatMap((base) => STEPS.map((step) => base * step)).sort((a, b) => a - b)
  const width = widths.find((one) => end / one <= MOST_TICKS) ?? end
  return Array.from({ length: Math.floor(end / width) + 1 }, (_, index) => index * width)
}
