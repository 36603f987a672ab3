/** Turns a seed into the records of a new world. */
import { createHash } from 'node:crypto'
import { type Catalog, newCatalog, newDatabaseId } from '../world/catalog.ts'
import { DURATIONS, type Durations } from '../world/durations.ts'
import { idOf } from '../world/ids.ts'
import type { ComputeRecord, WorldRecord } from '../world/records.ts'
import { pastOperations } from './past.ts'
import type { ResolvedSeed } from './seed.ts'

interface PlantOptions {
  /** Major version of Postgres for its projects. */
  readonly pgVersion?: number
  /** Durations that differ from the defaults, by action. */
  readonly durations?: Durations
  readonly durationSpread?: number
}

export const plant = (
  { projects, keys }: ResolvedSeed,
  now: number,
  options: PlantOptions = {},
): readonly WorldRecord[] => {
  const records: WorldRecord[] = keys.map(toKey)
  const usual = newCatalog(now)
  for (const project of projects) {
    records.push({
      kind: 'project',
      id: project.id,
      name: project.name ?? project.id,
      regionId: project.region,
      plan: project.plan,
      ...(options.pgVersion === undefined ? {} : { pgVersion: options.pgVersion }),
      ...(project.org === undefined ? {} : { orgId: project.org }),
      ...(project.maintenance === undefined ? {} : { maintenanceAt: Date.parse(project.maintenance) }),
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
        ...(parentId === undefined ? {} : { parentId }),
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
    if (project.operations > 0) records.push(...past(project.operations, now, records, project.id, options))
  }
  return records
}

/** The same roles and passwords everywhere: real computes then copy the data that they made for the first branch. */
const withNewIds = ({ roles, databases }: Catalog): Catalog => ({
  roles,
  databases: databases.map((database) => ({ ...database, id: newDatabaseId() })),
})

/** Past operations of the first branch and its first compute. */
const past = (
  count: number,
  now: number,
  records: readonly WorldRecord[],
  projectId: string,
  options: PlantOptions,
) => {
  const branchId = records.find((record) => record.kind === 'branch' && record.projectId === projectId)?.id ?? ''
  const computeId = records.find((record) => record.kind === 'compute' && record.branchId === branchId)?.id
  const on = { projectId, branchId, ...(computeId === undefined ? {} : { computeId }) }
  return pastOperations(count, now, on, { ...DURATIONS, ...options.durations }, options.durationSpread)
}

const toKey = (key: ResolvedSeed['keys'][number]): WorldRecord => ({
  kind: 'key',
  id: createHash('sha256').update(key.key).digest('hex'),
  of: key.kind,
  ...(key.kind === 'organization' ? { orgId: key.org } : {}),
  ...(key.kind === 'project' ? { projectId: key.project } : {}),
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
  ...(compute.name === undefined ? {} : { name: compute.name }),
  ...compute.size,
  suspendTimeoutSeconds: compute.scaleToZero,
  settings: {
    pg_settings: compute.postgres.settings,
    ...(compute.postgres.preload === undefined
      ? {}
      : { preload_libraries: { enabled_libraries: compute.postgres.preload } }),
  },
  disabled: compute.disabled,
  poolerEnabled: false,
  passwordlessAccess: false,
  state: compute.disabled ? 'idle' : compute.state,
  createdAt: now,
  updatedAt: now,
  lastActive: now,
  ...(compute.state === 'idle' ? { suspendedAt: now } : { startedAt: now }),
})

/** Deterministic: the same seed gives the same ids. */
const derivedId = (prefix: 'br' | 'ep', ...parts: readonly string[]): string =>
  idOf(prefix, createHash('sha256').update(parts.join('\n')).digest())
