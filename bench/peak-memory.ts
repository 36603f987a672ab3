/** Measures the peak resident memory of a block of code, in MiB. */
import { readFileSync, writeFileSync } from 'node:fs'

const STATUS = '/proc/self/status'

const readHighWaterMark = (): number => {
  const match = /VmHWM:\s+(\d+) kB/.exec(readFileSync(STATUS, 'utf8'))
  return Number(match?.[1] ?? 0) / 1024
}

/**
 * Resets the peak, so that it does not include earlier work. Only Linux can reset its high-water mark. On other
 * systems, the peak is that of the whole process.
 */
export const resetPeak = (): void => {
  globalThis.gc?.()
  if (process.platform === 'linux') writeFileSync('/proc/self/clear_refs', '5')
}

export const peakMiB = (): number =>
  process.platform === 'linux' ? readHighWaterMark() : process.resourceUsage().maxRSS / 1024
