/** Computes as the console lists them, and a little more. */
import { formatSize, leftOutIds, type ObservedCompute, type ObservedProject, type Plan } from '../../model/index.ts'
import { counted, plainText } from '../words/index.ts'
import { pad, paintOf, type Style } from './style.ts'

export interface StatusContext {
  readonly takenAt: string
  /** What the manifests claim; absent where no manifests were read. */
  readonly claims?: Claims
}

export interface Claims {
  /** The ids of computes that no declaration claims. */
  readonly unmanaged: ReadonlySet<string>
  /** The ids of projects that could not be planned: what is managed there is not known. */
  readonly leftOut: ReadonlySet<string>
}

export const claimsOf = (plan: Plan): Claims => ({
  unmanaged: new Set(plan.unmanaged.map(({ compute }) => compute.id ?? '')),
  leftOut: new Set(leftOutIds(plan)),
})

/** One compute, flat: what JSON and the table say of it. */
export const statusOf = (compute: ObservedCompute, project: ObservedProject, { claims }: StatusContext) => {
  const isKnown = claims !== undefined && !claims.leftOut.has(project.id)
  const branch = project.branches.find(({ id }) => id === compute.branchId)
  return {
    project: project.id,
    branch: branch?.name ?? compute.branchId,
    branchId: compute.branchId,
    type: compute.type === 'read_write' ? 'primary' : 'replica',
    name: compute.attributes.name ?? null,
    id: compute.id,
    host: compute.host,
    state: compute.state,
    pendingState: compute.pendingState ?? null,
    disabled: compute.attributes.disabled ?? false,
    size: compute.attributes.size ?? null,
    lastActive: compute.lastActive ?? null,
    managed: isKnown ? !claims.unmanaged.has(compute.id) : null,
  } as const
}

type Status = ReturnType<typeof statusOf>

export const statusTable = (projects: readonly ObservedProject[], context: StatusContext, style: Style): string => {
  const paint = paintOf(style)
  const sections = projects.map((project) => {
    const all = project.computes.map((compute) => statusOf(compute, project, context)).sort(byPlace)
    const rows = all.map((status) => cellsOf(status, context.claims === undefined ? '' : 'not known'))
    const head = ['BRANCH', 'COMPUTE', 'STATUS', 'SIZE', 'ID', 'LAST ACTIVE', 'MANAGED', 'HOST']
    const isShown = head.map((_, index) => rows.some((row) => row[index] !== ''))
    const widths = head.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)))
    const line = (cells: readonly string[]): string =>
      cells
        .flatMap((cell, index) => (isShown[index] === true ? [pad(cell, widths[index] ?? 0)] : []))
        .join('  ')
        .trimEnd()
    const active = all.filter(({ state }) => state === 'active').length
    return [
      `${paint.bold(`Project ${plainText(project.id)}`)}  ${counted(all.length, 'compute')}, ${active} active`,
      ...(rows.length === 0 ? [] : [paint.dim(`  ${line(head)}`), ...rows.map((row) => `  ${line(row)}`)]),
    ].join('\n')
  })
  return `${sections.join('\n\n')}\n\n${paint.dim(`seen at ${context.takenAt}`)}\n`
}

/** By branch, primary first. */
const byPlace = (a: Status, b: Status): number => {
  const key = ({ branch, type, name, id }: Status): string => `${branch}\0${type}\0${name ?? ''}\0${id}`
  return key(a) < key(b) ? -1 : 1
}

/** @param unclear where it is not known whether a compute is managed. */
const cellsOf = (status: Status, unclear: string): readonly string[] => [
  plainText(status.branch),
  status.name === null ? status.type : `${status.type} ${plainText(status.name)}`,
  stateWords(status),
  status.size === null ? '' : formatSize(status.size),
  plainText(status.id),
  status.lastActive === null ? 'never' : plainText(status.lastActive),
  status.managed === null ? unclear : status.managed ? 'yes' : 'no',
  plainText(status.host),
]

const stateWords = ({ state, pendingState, disabled }: Status): string => {
  const moving = pendingState === null ? state : `${state} → ${pendingState}`
  return plainText(disabled ? `${moving}, disabled` : moving)
}
