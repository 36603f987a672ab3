/** Turns a seed into the records of a new world. */
import { createHash } from 'node:crypto'
import { type Catalog, newCatalog, newDatabaseId } from '../world/catalog.ts'
import { idOf } from '../world/ids.ts'
import { digestOf } from '../world/key-commands.ts'
import { DURATIONS, type Durations, durationOf } from '../world/operations.ts'
import type { ComputeRecord, OperationRecord, WorldRecord } from '../world/records.ts'
import type { ResolvedSeed } from './seed.ts'

interface SeedOptions {
  /** The major version of Postgres for the projects in the seed. */
  readonly pgVersion?: number
  /** The durations that differ from the defaults, by action. */
  readonly durations?: Durations
  readonly durationSpread?: number
}

export const seedRecords = (
  { projects, keys }: ResolvedSeed,
  now: number,
  options: SeedOptions = {},
): readonly WorldRecord[] => {
  const records: WorldRecord[] = keys.map((key) => toKey(key, now))
  const usual = newCatalog(now)
  for (const project of projects) {
    records.push({
      kind: 'project',
      id: project.id,
      name: project.name ?? project.id,
      regionId: project.region,
      plan: project.plan,
      pgVersion: options.pgVersion,
      orgId: project.org,
      maintenanceAt: project.maintenance === undefined ? undefined : Date.parse(project.maintenance),
      defaults: { ...project.defaults.size, suspendTimeoutSeconds: project.defaults.scaleToZero },
      createdAt: now,
    })
    const ids = new Map(
      project.branches.map((branch) => [branch.name, branch.id ?? derivedId('br', project.id, branch.name)]),
    )
    const catalogs = new Map<string, Catalog>()
    const hasDefault = project.branches.some((branch) => branch.default)
    for (const [index, branch] of project.branches.entries()) {
      const id = ids.get(branch.name) ?? ''
      const parentId = branch.parent === undefined ? undefined : ids.get(branch.parent)
      const catalog = catalogs.get(branch.parent ?? '') ?? withNewIds(usual)
      catalogs.set(branch.name, catalog)
      records.push({
        kind: 'branch',
        id,
        projectId: project.id,
        name: branch.name,
        parentId,
        isDefault: branch.default || (!hasDefault && index === 0),
        isProtected: branch.protected,
        state: 'ready',
        createdAt: now,
        updatedAt: now,
        ...catalog,
      })
      for (const [place, compute] of branch.computes.entries()) {
        records.push(toCompute(compute, compute.id ?? derivedId('ep', id, String(place)), project.id, id, now))
      }
    }
    if (project.operations > 0) records.push(...pastOperations(project.operations, now, records, project.id, options))
  }
  return records
}

/** Roles and passwords are the same in all projects, so that real computes can copy the data of the first branch. */
const withNewIds = ({ roles, databases }: Catalog): Catalog => ({
  roles,
  databases: databases.map((database) => ({ ...database, id: newDatabaseId() })),
})

const APART_MS = 3_600_000
const CYCLE = ['start_compute', 'apply_config', 'suspend_compute'] as const
const WITHOUT_COMPUTE = ['create_branch'] as const

/** Generates past operations for the project's first branch and that branch's first compute, an hour apart. */
const pastOperations = (
  count: number,
  now: number,
  records: readonly WorldRecord[],
  projectId: string,
  { durations, durationSpread }: SeedOptions,
): readonly OperationRecord[] => {
  const branchId = records.find((record) => record.kind === 'branch' && record.projectId === projectId)?.id ?? ''
  const computeId = records.find((record) => record.kind === 'compute' && record.branchId === branchId)?.id
  const actions = computeId === undefined ? WITHOUT_COMPUTE : CYCLE
  return Array.from({ length: count }, (_, index) => {
    const action = actions[index % actions.length] ?? 'start_compute'
    const startedAt = now - (count - index) * APART_MS
    const durationMs = durationOf(action, index, { ...DURATIONS, ...durations }, durationSpread)
    return {
      kind: 'operation',
      id: uuidOf(`${projectId}\n${index}`),
      projectId,
      branchId,
      computeId,
      action,
      status: 'finished',
      createdAtUs: Math.round(startedAt * 1_000),
      updatedAt: startedAt + durationMs,
      startedAt,
      durationMs,
    }
  })
}

/** Always returns the same UUID for the same text. */
const uuidOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const toKey = (key: ResolvedSeed['keys'][number], now: number): WorldRecord => ({
  kind: 'key',
  id: digestOf(key.key),
  of: key.kind,
  ...(key.kind === 'organization' ? { orgId: key.org } : {}),
  ...(key.kind === 'project' ? { projectId: key.project } : {}),
  name: 'from the seed',
  createdAt: now,
  isRevoked: key.revoked,
})

type SeedCompute = ResolvedSeed['projects'][number]['branches'][number]['computes'][number]

const toCompute = (
  compute: SeedCompute,
  id: string,
  projectId: string,
  branchId: string,
  now: number,
): ComputeRecord => ({
  kind: 'compute',
  id,
  projectId,
  branchId,
  type: compute.type,
  name: compute.name,
  ...compute.size,
  suspendTimeoutSeconds: compute.scaleToZero,
  settings: {
    pg_settings: compute.postgres.settings,
    preload_libraries:
      compute.postgres.preload === undefined ? undefined : { enabled_libraries: compute.postgres.preload },
  },
  disabled: compute.disabled,
  poolerEnabled: false,
  passwordlessAccess: true,
  state: compute.disabled ? 'idle' : compute.state,
  createdAt: now,
  updatedAt: now,
  lastActive: now,
  ...(compute.state === 'idle' ? { suspendedAt: now } : { startedAt: now }),
})

/** Always returns the same id for the same parts, so the ids of a seed never change. */
const derivedId = (prefix: 'br' | 'ep', ...parts: readonly string[]): string =>
  idOf(prefix, createHash('sha256').update(parts.join('\n')).digest())
