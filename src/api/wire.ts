/** The API's answers at the edge: unknown fields pass, unknown words are kept, a missing required field is an error. */
import { z } from 'zod'
import { attributesFromWire, type ObservedBranch, type ObservedCompute, type WireAttributes } from '../model/index.ts'

const settings = z.looseObject({
  pg_settings: z.record(z.string(), z.string()).nullish(),
  preload_libraries: z
    .looseObject({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).nullish() })
    .nullish(),
})

const endpoint = z.looseObject({
  id: z.string(),
  host: z.string(),
  branch_id: z.string(),
  type: z.enum(['read_write', 'read_only']),
  current_state: z.string(),
  pending_state: z.string().nullish(),
  name: z.string().nullish(),
  autoscaling_limit_min_cu: z.number(),
  autoscaling_limit_max_cu: z.number(),
  suspend_timeout_seconds: z.number().nullish(),
  disabled: z.boolean().nullish(),
  pooler_enabled: z.boolean().nullish(),
  pooler_mode: z.string().nullish(),
  passwordless_access: z.boolean().nullish(),
  settings: settings.nullish(),
  created_at: z.string().nullish(),
  last_active: z.string().nullish(),
})

/** Null and absent are one to us, and `exactOptionalPropertyTypes` tells them apart. */
const present = <T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } => {
  const kept: { [K in keyof T]?: NonNullable<T[K]> } = {}
  // A loop: of every compute of a fleet it looks at every field.
  for (const key of Object.keys(value) as (keyof T)[]) {
    const entry = value[key]
    if (entry !== undefined && entry !== null) kept[key] = entry
  }
  return kept
}

const toCompute = (wire: z.infer<typeof endpoint>): ObservedCompute => ({
  id: wire.id,
  branchId: wire.branch_id,
  type: wire.type,
  host: wire.host,
  state: wire.current_state,
  attributes: attributesFromWire({
    ...present(wire),
    ...(wire.settings
      ? {
          settings: {
            pg_settings: wire.settings.pg_settings ?? {},
            ...(wire.settings.preload_libraries
              ? {
                  preload_libraries: {
                    use_defaults: wire.settings.preload_libraries.use_defaults,
                    enabled_libraries: wire.settings.preload_libraries.enabled_libraries ?? [],
                  },
                }
              : {}),
          },
        }
      : {}),
  } as WireAttributes),
  ...present({ pendingState: wire.pending_state, createdAt: wire.created_at, lastActive: wire.last_active }),
})

export const computeAnswer = z.looseObject({ endpoint }).transform(({ endpoint: one }) => toCompute(one))
export const computesAnswer = z
  .looseObject({ endpoints: z.array(endpoint) })
  .transform(({ endpoints }) => endpoints.map(toCompute))

const branch = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    default: z.boolean().nullish(),
    primary: z.boolean().nullish(),
    protected: z.boolean().nullish(),
    current_state: z.string().nullish(),
    parent_id: z.string().nullish(),
  })
  .transform(
    (wire): ObservedBranch => ({
      id: wire.id,
      name: wire.name,
      isDefault: wire.default ?? wire.primary ?? false,
      isProtected: wire.protected ?? false,
      ...present({ state: wire.current_state, parentId: wire.parent_id }),
    }),
  )

export const branchesAnswer = z.looseObject({
  branches: z.array(branch),
  pagination: z.looseObject({ next: z.string().nullish() }).nullish(),
})

export interface Operation {
  readonly id: string
  readonly projectId: string
  readonly branchId?: string
  readonly endpointId?: string
  readonly action: string
  /** As the API words it; unknown words are kept. */
  readonly status: string
  readonly failuresCount: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly totalDurationMs?: number
  readonly error?: string
  /** When a failed one is tried again, or was last. */
  readonly retryAt?: string
}

const operation = z
  .looseObject({
    id: z.string(),
    project_id: z.string(),
    branch_id: z.string().nullish(),
    endpoint_id: z.string().nullish(),
    action: z.string(),
    status: z.string(),
    failures_count: z.number().nullish(),
    created_at: z.string(),
    updated_at: z.string(),
    total_duration_ms: z.number().nullish(),
    error: z.string().nullish(),
    retry_at: z.string().nullish(),
  })
  .transform(
    (wire): Operation => ({
      id: wire.id,
      projectId: wire.project_id,
      action: wire.action,
      status: wire.status,
      failuresCount: wire.failures_count ?? 0,
      createdAt: wire.created_at,
      updatedAt: wire.updated_at,
      ...present({
        branchId: wire.branch_id,
        endpointId: wire.endpoint_id,
        totalDurationMs: wire.total_duration_ms,
        error: wire.error,
        retryAt: wire.retry_at,
      }),
    }),
  )

export const operationAnswer = z.looseObject({ operation }).transform(({ operation: one }) => one)
export const operationsAnswer = z.looseObject({
  operations: z.array(operation),
  pagination: z.looseObject({ cursor: z.string().nullish() }).nullish(),
})

/** What a changing call answers; both parts may be missing (204, or a branch change). */
export const mutationAnswer = z
  .looseObject({ endpoint: endpoint.nullish(), operations: z.array(operation).nullish() })
  .transform((wire) => ({
    operations: wire.operations ?? [],
    ...(wire.endpoint ? { compute: toCompute(wire.endpoint) } : {}),
  }))

export interface Project {
  readonly id: string
  readonly name: string
  readonly regionId?: string
}

const project = z
  .looseObject({ id: z.string(), name: z.string(), region_id: z.string().nullish() })
  .transform((wire): Project => ({ id: wire.id, name: wire.name, ...present({ regionId: wire.region_id }) }))

export const projectAnswer = z.looseObject({ project }).transform(({ project: one }) => one)
export const projectsAnswer = z.looseObject({
  projects: z.array(project),
  pagination: z.looseObject({ cursor: z.string().nullish() }).nullish(),
})
