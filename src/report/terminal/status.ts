/** The table of live computes, which shows whether each compute matches the manifests. */
import { compare, counted, formatUtc, groupBy, isRecord, plainText } from '../../base/index.ts'
import {
  byBranch,
  computeTitle,
  formatScaleToZero,
  formatSize,
  leftOutIds,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  type Plan,
  updateDue,
  type WireSettings,
} from '../../model/index.ts'
import { updateRestarts } from '../../service/index.ts'
import { ageOf } from '../words/counts.ts'
import { type Paint, paintOf, type Style } from './style.ts'
import { type Column, tableOf } from './table.ts'

/** `unknown` if the project cannot be planned or the manifests have errors, and `null` if no manifest declares it. */
type Sync = 'in-sync' | 'differs' | 'unmanaged' | 'unknown' | null

interface StatusContext {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Absent if no manifests were read. */
  readonly plan?: Plan
  /** Whether the manifests have errors, in which case the sync state is unknown. */
  readonly isUnknown?: boolean
}

/** The status of a compute, as it is shown in JSON and in the table. */
type ComputeStatus = ReturnType<typeof statusOf>

/** Keeps the order of the projects. In each project, the default branch comes first, and primaries before replicas. */
export const statusesOf = (
  projects: readonly ObservedProject[],
  { plan, now, isUnknown = false }: StatusContext,
): readonly ComputeStatus[] => {
  const syncOf = plan === undefined ? () => (isUnknown ? 'unknown' : null) : syncBy(plan)
  return projects.flatMap((project) => {
    const sorted = project.branches.toSorted(byBranch)
    const branches = new Map(sorted.map((branch, place) => [branch.id, { branch, place }]))
    const placeOf = ({ branchId }: ObservedCompute): number => branches.get(branchId)?.place ?? branches.size
    const due = updateDue(project.settings, now)
    return project.computes
      .toSorted(
        (a, b) =>
          placeOf(a) - placeOf(b) ||
          Number(a.type === 'read_only') - Number(b.type === 'read_only') ||
          compare(a.attributes.name ?? a.id, b.attributes.name ?? b.id),
      )
      .map((compute) =>
        statusOf(compute, project, branches.get(compute.branchId)?.branch, syncOf(compute.id, project.id), due),
      )
  })
}

const syncBy = (plan: Plan): ((compute: string, project: string) => Sync) => {
  const unmanaged = new Set(plan.unmanaged.map(({ compute }) => compute.id))
  const changing = new Set(plan.changes.map(({ compute }) => compute.id))
  const planned = new Set(plan.projects)
  const leftOut = new Set(leftOutIds(plan))
  return (compute, project) => {
    if (leftOut.has(project)) return 'unknown'
    if (!planned.has(project)) return null
    if (unmanaged.has(compute)) return 'unmanaged'
    return changing.has(compute) ? 'differs' : 'in-sync'
  }
}

/**
 * The names in the API's `settings`, such as `pg_settings.work_mem`. The values may be secrets, and the output may end
 * up in a log.
 */
const settingNames = (settings: WireSettings = {}): readonly string[] =>
  Object.entries(settings)
    .flatMap(([field, value]) => (isRecord(value) ? Object.keys(value).map((name) => `${field}.${name}`) : field))
    .sort()

const statusOf = (
  compute: ObservedCompute,
  project: ObservedProject,
  branch: ObservedBranch | undefined,
  sync: Sync,
  updateDueAt: number | undefined,
) => ({
  /** `project_id` in the API. */
  project: project.id,
  projectName: project.name ?? null,
  branch: branch?.name ?? compute.branchId,
  branchId: compute.branchId,
  type: compute.type === 'read_write' ? 'primary' : 'replica',
  name: compute.attributes.name ?? null,
  id: compute.id,
  host: compute.host,
  proxyHost: compute.proxyHost ?? null,
  regionId: compute.regionId ?? null,
  state: compute.state,
  pendingState: compute.pendingState ?? null,
  disabled: compute.attributes.disabled ?? false,
  size: compute.attributes.size ?? null,
  /** In seconds. 0 means the service's default, and −1 means never. */
  scaleToZero: compute.attributes.scaleToZero ?? null,
  pooler: { enabled: compute.attributes.poolerEnabled ?? null, mode: compute.attributes.poolerMode ?? null },
  passwordlessAccess: compute.attributes.passwordlessAccess ?? null,
  settings: settingNames(compute.settings),
  creationSource: compute.creationSource ?? null,
  provisioner: compute.provisioner ?? null,
  createdAt: compute.createdAt ?? null,
  updatedAt: compute.updatedAt ?? null,
  lastActive: compute.lastActive ?? null,
  suspendedAt: compute.suspendedAt ?? null,
  /** When the branch expires (ISO 8601), or `null` if it does not. */
  expiresAt: branch?.expiresAt ?? null,
  /** When a service update may restart the compute (ISO 8601), or `null` if no update is planned. */
  updateAt:
    updateDueAt !== undefined && updateRestarts(compute, updateDueAt) !== 'no'
      ? new Date(updateDueAt).toISOString()
      : null,
  sync,
  /** The operation that left the compute unsettled, and the `espalier compute` command that settles it; or `null`. */
  unsettled: unsettledOf(compute, project),
})

const unsettledOf = ({ id }: ObservedCompute, { settlement }: ObservedProject) => {
  const found = settlement?.unsettled.find((one) => one.id === id)
  return found === undefined ? null : { operation: found.operation, repair: found.repair }
}

/** @param isWide whether to show every column in full, however long the lines become. */
export const statusTable = (
  projects: readonly ObservedProject[],
  context: StatusContext,
  style: Style,
  isWide = false,
): string => {
  const paint = paintOf(style)
  const all = statusesOf(projects, context)
  const width = isWide ? Number.POSITIVE_INFINITY : style.width
  const table = tableOf(columns(context.now, isWide), all, { ...style, width })
  const byProject = groupBy(all, ({ project }) => project)
  const missing = groupBy(context.plan?.changes.filter(({ kind }) => kind === 'create') ?? [], ({ project }) => project)
  const sections = projects.map((project) => {
    const own = byProject.get(project.id) ?? []
    const absent = missing.get(project.id) ?? []
    return [
      titleOf(project, own, absent.length, paint),
      ...(own.length === 0 ? [] : [table.head, ...own.map(table.line)]),
      ...absent.map(({ compute, branch }) =>
        paint.yellow(`  not live: ${computeTitle(compute)} on ${plainText(branch.name)}`),
      ),
    ].join('\n')
  })
  return sections.length === 0 ? '' : `${sections.join('\n\n')}\n`
}

const titleOf = (
  { id, name }: ObservedProject,
  computes: readonly ComputeStatus[],
  missing: number,
  paint: Paint,
): string => {
  const differing = computes.filter(({ sync }) => sync === 'differs').length
  const unmanaged = computes.filter(({ sync }) => sync === 'unmanaged').length
  const facts = [
    counted(computes.length, 'compute'),
    `${computes.filter(({ state }) => state === 'active').length} active`,
    ...(differing === 0 ? [] : [`${differing} ${differing === 1 ? 'differs' : 'differ'}`]),
    ...(unmanaged === 0 ? [] : [`${unmanaged} unmanaged`]),
    ...(missing === 0 ? [] : [`${missing} not live`]),
  ].join(', ')
  const title = name === undefined || name === id ? plainText(id) : `${plainText(name)}  ${paint.dim(plainText(id))}`
  return `${paint.bold(title)}  ${facts}`
}

const syncColor = ({ sync }: ComputeStatus, paint: Paint): ((text: string) => string) => {
  if (sync === 'differs') return paint.yellow
  if (sync === 'unknown') return paint.red
  return sync === 'in-sync' ? paint.green : paint.dim
}

const columns = (now: number, isWide: boolean): readonly Column<ComputeStatus>[] => [
  { title: 'BRANCH', text: ({ branch }) => plainText(branch), narrowest: 12 },
  {
    title: 'COMPUTE',
    text: ({ type, name }) => (name === null ? type : `${type} ${plainText(name)}`),
    narrowest: 16,
  },
  { title: 'STATE', text: stateWords, color: ({ state }, paint) => (state === 'active' ? paint.green : paint.dim) },
  { title: 'SIZE', text: ({ size }) => (size === null ? '' : formatSize(size)) },
  { title: 'SYNC', text: ({ sync }) => sync?.replace('-', ' ') ?? '', color: syncColor },
  { title: 'EXPIRES', text: ({ expiresAt }) => timeText(expiresAt), isOptional: true },
  { title: 'UPDATE', text: ({ updateAt }) => timeText(updateAt), isOptional: true },
  { title: 'ID', text: ({ id }) => plainText(id), isOptional: true },
  {
    title: 'LAST ACTIVE',
    text: ({ lastActive }) => (lastActive === null ? 'never' : ageOf(lastActive, now)),
    isOptional: true,
  },
  ...(isWide ? wideColumns(now) : []),
]

const wideColumns = (now: number): readonly Column<ComputeStatus>[] => [
  { title: 'SCALE TO ZERO', text: ({ scaleToZero }) => (scaleToZero === null ? '' : formatScaleToZero(scaleToZero)) },
  { title: 'AGE', text: ({ createdAt }) => (createdAt === null ? '' : ageOf(createdAt, now)) },
  { title: 'HOST', text: ({ host }) => plainText(host) },
]

const timeText = (iso: string | null): string => {
  if (iso === null) return ''
  const at = Date.parse(iso)
  return Number.isNaN(at) ? plainText(iso) : formatUtc(at)
}

const stateWords = ({ state, pendingState, disabled }: ComputeStatus): string => {
  const moving = pendingState === null ? state : `${state} → ${pendingState}`
  return plainText(disabled ? `${moving}, disabled` : moving)
}
