/** Defines what a saved plan records about the live projects, so that later changes to them can be shown. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson, defined } from '../../base/index.ts'
import {
  ATTRIBUTE_KEYS,
  computeTitle,
  type Observed,
  type ObservedCompute,
  type Plan,
  rowOf,
  settingsOf,
  undeclaredSettings,
} from '../../model/index.ts'

export const FINGERPRINT = z.string().regex(/^[0-9a-f]{64}$/)

const compute = z.strictObject({
  branch: z.string(),
  type: z.enum(['read_write', 'read_only']),
  state: z.string(),
  pendingState: z.string().exactOptional(),
  /** The values of attributes by manifest path, formatted for people. */
  attributes: z.record(z.string(), z.string()),
})

export const seenShape = z.record(
  z.string(),
  z.strictObject({
    /** A fingerprint of the branches' ids, names, default, protection and expiry, and of the project's maintenance window. */
    branches: FINGERPRINT,
    computes: z.record(z.string(), compute),
  }),
)

type SeenCompute = z.infer<typeof compute>

/** What was recorded about each project, by project id. */
export type Seen = z.infer<typeof seenShape>

/** @param planned the ids of the projects that were planned. Other projects may have been read as well. */
export const seenOf = ({ projects }: Observed, planned: readonly string[]): Seen =>
  Object.fromEntries(
    projects
      .filter(({ id }) => planned.includes(id))
      .map(({ id, branches, computes, settings }) => [
        id,
        {
          branches: fingerprint([
            branches
              .map(({ id, name, isDefault, isProtected, expiresAt }) => [id, name, isDefault, isProtected, expiresAt])
              .sort(byId),
            settings?.maintenanceWindow,
          ]),
          computes: Object.fromEntries(computes.map((one) => [one.id, seenCompute(one)] as const).sort(byId)),
        },
      ]),
  )

/**
 * A fingerprint of the live settings that the requests of a plan repeat because they are not declared. There is one for
 * all computes, since a value could be guessed if it had its own.
 */
export const keptSettings = ({ projects }: Observed, { changes, steps }: Plan): string => {
  const replaced = new Set(changes.filter(({ kind }) => kind === 'replace').map(({ id }) => id))
  const declared = new Map(steps.map(({ change, request }) => [change, request.body?.endpoint.settings]))
  const live = new Map(projects.flatMap(({ computes }) => computes.map((one) => [one.id, one])))
  const kept = steps.flatMap(({ change, compute: { id = '' } }) => {
    const [asked, compute] = [declared.get(change), live.get(id)]
    if (compute === undefined || (asked === undefined && !replaced.has(change))) return []
    return [[id, undeclaredSettings(settingsOf(compute), asked)]]
  })
  return fingerprint(kept.sort(byId))
}

const byId = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1)

const seenCompute = (compute: ObservedCompute): SeenCompute => {
  const { branchId, type, state, pendingState, attributes } = compute
  return defined({
    branch: branchId,
    type,
    state,
    pendingState,
    attributes: Object.fromEntries(
      ATTRIBUTE_KEYS.flatMap((key) => {
        const [row, value] = [rowOf(key), attributes[key]]
        // Settings may contain secrets, and other people may read the file.
        return value === undefined || 'settings' in row.fields ? [] : [[row.path, row.format(value)] as const]
      }),
    ),
  })
}

const fingerprint = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex')

/** The projects as they are now, but with each compute active or idle as it was when the plan was saved. */
export const withActivityOf = (seen: Seen, observed: Observed): Observed => {
  const projects = mapOf(seen)
  return {
    ...observed,
    projects: observed.projects.map((project) => {
      const computes = mapOf(projects.get(project.id)?.computes)
      return { ...project, computes: project.computes.map((live) => withActivity(live, computes.get(live.id))) }
    }),
  }
}

const withActivity = (live: ObservedCompute, then: SeenCompute | undefined): ObservedCompute => {
  if (then === undefined) return live
  return defined({ ...live, state: then.state, pendingState: then.pendingState })
}

/** Converts to a map, because ids in a file could be names such as `__proto__`. */
const mapOf = <T>(record: Readonly<Record<string, T>> | undefined): ReadonlyMap<string, T> =>
  new Map(Object.entries(record ?? {}))

/** A compute that has changed. Becoming active or idle does not count as a change. */
export interface MovedCompute {
  readonly id: string
  readonly project: string
  /** The branch that the compute was on before, and the branch that it is on now. */
  readonly branches: readonly string[]
  /** For example, `ep-1 (primary on main): size 1 CU → 4 CU`. */
  readonly sentence: string
}

export interface Moved {
  readonly computes: readonly MovedCompute[]
  /** Whether the branches or the maintenance window have changed. */
  readonly branches: boolean
}

/** A sentence for each id in the plan that is missing from `seen`, although both should come from the same snapshot. */
export const unseenIn = (seen: Seen, { projects, changes, unmanaged }: Plan): readonly string[] => {
  const known = mapOf(seen)
  const named = [...changes, ...unmanaged].flatMap(({ project, compute: { id } }) =>
    id === undefined || mapOf(known.get(project)?.computes).has(id) ? [] : [id],
  )
  return [...projects.filter((id) => !known.has(id)), ...new Set(named)].map((id) => `seen: ${id} is missing`)
}

/** @param seen what was recorded about all planned projects. */
export const movedSince = (seen: Seen, observed: Observed, planned: readonly string[]): Moved => {
  const before = Object.entries(seen).sort(byId)
  const after = mapOf(seenOf(observed, planned))
  const projects = new Map(observed.projects.map((project) => [project.id, project]))
  return {
    branches: before.some(([id, { branches }]) => branches !== after.get(id)?.branches),
    computes: before.flatMap(([id, { computes }]) => {
      const names = new Map(projects.get(id)?.branches.map((branch) => [branch.id, branch.name]))
      return movedIn(id, mapOf(computes), mapOf(after.get(id)?.computes), names)
    }),
  }
}

const movedIn = (
  project: string,
  before: ReadonlyMap<string, SeenCompute>,
  after: ReadonlyMap<string, SeenCompute>,
  names: ReadonlyMap<string, string>,
): readonly MovedCompute[] => {
  const nameOf = (branch: string): string => names.get(branch) ?? branch
  return [...new Map([...before, ...after])].sort(byId).flatMap(([id, one]) => {
    const was = before.get(id)
    const what = howMoved(was, after.get(id), nameOf)
    if (what === '') return []
    const branches = [(was ?? one).branch, one.branch]
    return [
      {
        id,
        project,
        branches,
        sentence: `${id} (${computeTitle({ type: one.type, name: one.attributes.name })} on ${nameOf(one.branch)}): ${what}`,
      },
    ]
  })
}

const howMoved = (
  was: SeenCompute | undefined,
  is: SeenCompute | undefined,
  nameOf: (branch: string) => string,
): string => {
  if (was === undefined) return 'created since'
  if (is === undefined) return 'deleted since'
  const from = mapOf({ branch: nameOf(was.branch), type: was.type, ...was.attributes })
  const to = mapOf({ branch: nameOf(is.branch), type: is.type, ...is.attributes })
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((path) => from.get(path) !== to.get(path))
    .map((path) => `${path} ${from.get(path) ?? 'unset'} → ${to.get(path) ?? 'unset'}`)
    .join(', ')
}
