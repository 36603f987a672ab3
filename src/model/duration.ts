/** Durations: in manifests `90s`, `5m`, `1h30m` or `7d`, in the API whole seconds. */

/** A regular expression, as a part of a pattern in a JSON Schema. */
export const DURATION = '(?=.)(\\d{1,7}d)?(\\d{1,7}h)?(\\d{1,7}m)?(\\d{1,7}s)?'
export const DURATION_PATTERN = `^${DURATION}$`
const PATTERN = new RegExp(DURATION_PATTERN)

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const

/** Parses a duration into seconds. `undefined` if it is invalid. Units go from large to small, each at most once. */
export const parseDuration = (text: string): number | undefined => {
  const match = PATTERN.exec(text)
  if (match === null) return undefined
  return UNITS.reduce((total, [, seconds], index) => total + Number.parseInt(match[index + 1] ?? '0', 10) * seconds, 0)
}

/** The shortest spelling of a whole number of seconds: 5400 is `1h30m`, 0 is `0s`. */
export const formatDuration = (seconds: number): string => {
  let rest = Math.round(seconds)
  let text = ''
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  return text === '' ? '0s' : text
}
