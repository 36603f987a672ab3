/** Invents past operations for a seeded project: what happened to its first compute, an hour apart. */
import { createHash } from 'node:crypto'
import { type Durations, durationOf } from '../world/durations.ts'
import type { OperationRecord } from '../world/records.ts'

const APART_MS = 3_600_000
const CYCLE = ['start_compute', 'apply_config', 'suspend_compute'] as const
/** For a branch without a compute. */
const WITHOUT_COMPUTE = ['create_branch'] as const

export const pastOperations = (
  count: number,
  now: number,
  on: { readonly projectId: string; readonly branchId: string; readonly computeId?: string },
  durations: Durations,
  spread?: number,
): readonly OperationRecord[] => {
  const actions = on.computeId === undefined ? WITHOUT_COMPUTE : CYCLE
  return Array.from({ length: count }, (_, index) => {
    const action = actions[index % actions.length] ?? 'start_compute'
    const startedAt = now - (count - index) * APART_MS
    const durationMs = durationOf(action, index, durations, spread)
    return {
      kind: 'operation',
      id: uuidOf(`${on.projectId}\n${index}`),
      ...on,
      action,
      status: 'finished',
      createdAtUs: Math.round(startedAt * 1_000),
      updatedAt: startedAt + durationMs,
      startedAt,
      durationMs,
    }
  })
}

/** Deterministic: the same text gives the same UUID. */
const uuidOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
