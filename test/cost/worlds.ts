/** Small projects for the cost model: the period began on 1 November, and today is the 21st. */
import {
  type ComputeAttributes,
  type CostRange,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  type PastOperation,
  SCALE_TO_ZERO_NEVER,
} from '../../src/model/index.ts'

export const NOW = Date.parse('2026-11-21T00:00:00Z')
export const START = '2026-11-01T00:00:00Z'
export const NEVER = SCALE_TO_ZERO_NEVER
export const FIXED_1: ComputeAttributes = { size: { min: 1, max: 1 }, scaleToZero: 300 }
export const RANGE: ComputeAttributes = { size: { min: 1, max: 4 }, scaleToZero: 300 }

const iso = (ms: number): string => new Date(ms).toISOString()
export const hoursAgo = (hours: number): string => iso(NOW - hours * 3_600_000)

export const compute = (attributes: ComputeAttributes, more: Partial<ObservedCompute> = {}): ObservedCompute => ({
  id: 'ep-one',
  branchId: 'br-main',
  type: 'read_write',
  host: 'ep-one.host',
  state: 'idle',
  createdAt: '2026-06-01T00:00:00Z',
  attributes,
  ...more,
})

/** @param hours active hours, and CU-hours. */
export const branch = (hours?: readonly [number, number], more: Partial<ObservedBranch> = {}): ObservedBranch => ({
  id: 'br-main',
  name: 'main',
  isDefault: true,
  isProtected: false,
  createdAt: '2026-06-01T00:00:00Z',
  ...(hours === undefined ? {} : { usage: { activeSeconds: hours[0] * 3600, computeSeconds: hours[1] * 3600 } }),
  ...more,
})

export const project = (more: Partial<ObservedProject> = {}): ObservedProject => ({
  id: 'shop',
  branches: [],
  computes: [],
  settings: { period: { start: START, end: '2026-12-01T00:00:00Z' } },
  ...more,
})

/** Operations of a compute that was active `times` times, for `hours` in total, in the days before now. */
export const operations = (computeId: string, hours: number, times: number): readonly PastOperation[] =>
  Array.from({ length: times }, (_, index) => {
    const from = NOW - (index + 1) * Math.floor(470 / times) * 3_600_000
    return [
      { action: 'start_compute', durationMs: 500, computeId, at: iso(from) },
      { action: 'suspend_compute', durationMs: 500, computeId, at: iso(from + (hours / times) * 3_600_000) },
    ]
  }).flat()

export const same = (value: number): CostRange => ({ low: value, expected: value, high: value })
export const range = (low: number | null, expected: number | null, high: number | null): CostRange => ({
  low,
  expected,
  high,
})
