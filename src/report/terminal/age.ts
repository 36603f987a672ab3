/** How long ago something was, formatted like `kubectl` does. */
import { plainText } from '../../base/index.ts'

const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
]

/** `42s`, `5m`, `3h`, `12d`; an invalid time is returned unchanged. */
export const ageOf = (iso: string, now: number): string => {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return plainText(iso)
  const seconds = Math.max(0, Math.floor((now - at) / 1_000))
  const [name, unit] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1]
  return `${Math.floor(seconds / unit)}${name}`
}
