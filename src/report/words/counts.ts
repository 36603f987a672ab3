/** Formats counts, numbers, durations and times. */
import { counted, group, plainText } from '../../base/index.ts'
import type { Diagnostic } from '../../model/index.ts'

/** `1 error` and `2 warnings`. Severities that do not occur are left out. */
export const severityCounts = (diagnostics: readonly Diagnostic[]): readonly string[] => {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const warnings = diagnostics.length - errors
  return [errors > 0 ? counted(errors, 'error') : [], warnings > 0 ? counted(warnings, 'warning') : []].flat()
}

/** With at most two decimals: `1,234.5`. */
export const number = (value: number): string => group(Math.round(value * 100) / 100)

/** `2.5 s`, `1 min 20 s`. */
export const time = (ms: number): string => {
  const seconds = ms / 1_000
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const rest = Math.round(seconds) % 60
  return `${Math.floor(Math.round(seconds) / 60)} min${rest === 0 ? '' : ` ${rest} s`}`
}

/** A duration in whole seconds, so that it does not flicker when it is redrawn often. */
export const elapsed = (ms: number): string => time(Math.max(0, Math.floor(ms / 1_000)) * 1_000)

/** Formats an ISO time in UTC as `2026-11-25 02:00 UTC`. */
export const minuteOf = (iso: string): string => iso.replace(/T(\d\d:\d\d).*$/, ' $1 UTC')

const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
]

/** The age in the format that `kubectl` uses: `42s`, `5m`, `3h`, `12d`. An invalid time is returned as it is. */
export const ageOf = (iso: string, now: number): string => {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return plainText(iso)
  const seconds = Math.max(0, Math.floor((now - at) / 1_000))
  const [name, unit] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1]
  return `${Math.floor(seconds / unit)}${name}`
}

export const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
