/** Names of live projects, branches and computes. A file caches them, so that most completions need no request. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { createReadApi, DEFAULT_BASE_URL, type ReadApi } from '../../api/index.ts'
import { projectIds } from '../../planner/index.ts'
import { readManifests } from '../../workflow/index.ts'
import type { Io } from '../io.ts'
import { findKey } from '../key.ts'

export interface LiveNames {
  readonly projects: readonly { readonly id: string; readonly name: string }[]
  readonly branches: readonly string[]
  /** Names in the form that `compute` commands accept: `main`, `main/reporting`. */
  readonly computes: readonly { readonly id: string; readonly ref: string }[]
}

interface Cached extends LiveNames {
  readonly readAt: number
}

const NO_NAMES: LiveNames = { projects: [], branches: [], computes: [] }
const FRESH_MS = 300_000
/** How long to wait for the service. Users do not wait longer than this for a completion. */
const TIMEOUT_MS = 800
const MOST_PROJECTS = 5

/**
 * Reads names from the cache if it is fresh, and otherwise from the service. If the service does not respond in time,
 * returns the last known names and caches them as if they had just been read, so that the next TAB does not have to
 * wait again.
 */
export const liveNames = async (words: readonly string[], io: Io): Promise<LiveNames> => {
  try {
    const baseUrl = flagValue(words, '--base-url') ?? io.env.ESPALIER_BASE_URL?.trim() ?? DEFAULT_BASE_URL
    const apiKey = await findKey(flagValue(words, '--api-key-file'), io)
    const only = flagValue(words, '--project')
    const file = fileFor([baseUrl, apiKey, only ?? io.cwd], io)
    const cached = await read(file)
    const now = io.clock.date()
    if (cached !== undefined && now - cached.readAt < FRESH_MS) return cached
    const names = (await within(TIMEOUT_MS, fetchNames({ baseUrl, apiKey }, only, io))) ?? cached ?? NO_NAMES
    await writeCache(file, { ...names, readAt: now })
    return names
  } catch {
    // This fails if there is no key, for example. Pressing TAB must not print an error.
    return NO_NAMES
  }
}

const fetchNames = async (
  target: { readonly baseUrl: string; readonly apiKey: string },
  only: string | undefined,
  io: Io,
): Promise<LiveNames> => {
  const api = createReadApi({ ...target, clock: io.clock })
  try {
    const [projects, ids] = await Promise.all([
      api.listProjects().catch(() => []),
      only === undefined ? declaredProjects(io.cwd) : [only],
    ])
    const parts = await Promise.all(ids.slice(0, MOST_PROJECTS).map((id) => namesOf(api, id).catch(() => NO_NAMES)))
    return {
      projects: projects.map(({ id, name }) => ({ id, name })),
      branches: [...new Set(parts.flatMap(({ branches }) => branches))],
      computes: parts.flatMap(({ computes }) => computes),
    }
  } finally {
    await api.close()
  }
}

const namesOf = async (api: ReadApi, project: string): Promise<LiveNames> => {
  const [branches, computes] = await Promise.all([api.listBranches(project), api.listComputes(project)])
  const names = new Map(branches.map(({ id, name }) => [id, name]))
  return {
    projects: [],
    branches: [...names.values()],
    computes: computes.flatMap(({ id, branchId, type, attributes: { name } }) => {
      const branch = names.get(branchId) ?? branchId
      if (type === 'read_write') return [{ id, ref: branch }]
      return [{ id, ref: name === undefined ? id : `${branch}/${name}` }]
    }),
  }
}

const declaredProjects = async (cwd: string): Promise<readonly string[]> =>
  readManifests([], { cwd }).then(
    ({ loaded }) => projectIds(loaded.desired),
    () => [],
  )

const within = async <T>(ms: number, work: Promise<T>): Promise<T | undefined> => {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, ms, undefined).unref())
  return Promise.race([work.catch(() => undefined), late])
}

/** The path of the cache. Its name contains a digest that the key is part of, but not the key itself. */
const fileFor = (parts: readonly string[], { env }: Io): string => {
  const folder = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache')
  const name = createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32)
  return join(folder, 'espalier', `completion-${name}.json`)
}

const read = async (file: string): Promise<Cached | undefined> => {
  try {
    const { projects, branches, computes, readAt } = JSON.parse(await readFile(file, 'utf8')) as Cached
    return [projects, branches, computes].every(Array.isArray) ? { projects, branches, computes, readAt } : undefined
  } catch {
    return undefined
  }
}

const writeCache = async (file: string, cached: Cached): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify(cached), { mode: 0o600 })
}

const flagValue = (words: readonly string[], flag: string): string | undefined => {
  const index = words.lastIndexOf(flag)
  return index < 0 || index >= words.length - 2 ? undefined : words[index + 1]
}
