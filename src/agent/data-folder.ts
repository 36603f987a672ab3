/** What the agent keeps between rounds: one file for each project, replaced as a whole, in a folder that one agent holds. */
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { EspalierError, PRIVATE, replaceFile } from '../base/index.ts'

const FORMAT = 1

const value = z.string().nullable()
const entry = z.object({ want: value, seen: value, base: value.optional(), agreed: z.boolean() })

/** So that a record is never ahead of the attempts and the suspension that belong to it, they are one file. */
const PROJECT_FILE = z.object({
  format: z.number(),
  record: z.object({ program: z.string(), manifests: z.string(), entries: z.record(z.string(), entry) }),
  refusals: z.array(
    z.object({ key: z.string(), want: value, live: value, why: z.enum(['not-effective', 'rejected']) }),
  ),
  reverts: z.array(z.object({ at: z.number(), key: z.string(), want: value })),
  sightings: z.record(
    z.string(),
    z.object({
      firstSeenAt: z.number(),
      refreshedAt: z.number(),
      fetchedAt: z.number(),
      isChanging: z.boolean(),
    }),
  ),
  failures: z.number(),
  interruptions: z.array(z.number()),
  suspension: z.object({ until: z.number(), reason: z.string() }).optional(),
})

export type ProjectFile = Omit<z.infer<typeof PROJECT_FILE>, 'format'>

const LEASE = z.object({ holder: z.string(), renewedAt: z.number() })
const LEASE_MS = 45_000

export interface DataFolder {
  /** `undefined` if nothing is known of the project. */
  readProject(project: string): Promise<ProjectFile | undefined>
  writeProject(project: string, file: ProjectFile): Promise<void>
  /**
   * Every 10 s, and before each call that changes something: that is how an agent that lost its lease finds out.
   *
   * @throws {EspalierError} `E_AGENT_DATA` once another agent took over.
   */
  renew(): Promise<void>
  release(): Promise<void>
}

/**
 * Takes the folder, or takes it over from an agent that has not renewed its lease for 45 s.
 *
 * @param holder random, so that a restarted process does not take itself for its predecessor.
 * @throws {EspalierError} `E_AGENT_DATA` while another agent holds it, or if a newer version wrote it.
 */
export const openDataFolder = async (
  folder: string,
  { holder, now }: { readonly holder: string; readonly now: () => number },
): Promise<DataFolder> => {
  const projects = join(folder, 'projects')
  const lock = join(folder, 'lock')
  await mkdir(projects, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)

  const readLease = async () => LEASE.safeParse(parsed(await textOf(lock))).data
  const renew = async (): Promise<void> => {
    const own = JSON.stringify({ holder, renewedAt: now() })
    // Of two that start at once in a new folder, one creates the file.
    if (await isCreated(lock, own)) return
    const lease = await readLease()
    if (lease !== undefined && lease.holder !== holder && now() - lease.renewedAt < LEASE_MS) throw held(folder)
    await replaceFile(lock, own, 'The lock of the data folder', PRIVATE)
  }
  await renew()
  for (const name of await readdir(projects)) if (name.endsWith('.tmp')) await rm(join(projects, name))

  const fileOf = (project: string): string => join(projects, `${encodeURIComponent(project)}.json`)
  return {
    readProject: async (project) => {
      const text = await textOf(fileOf(project))
      if (text === undefined) return undefined
      const { data } = PROJECT_FILE.safeParse(parsed(text))
      if (data === undefined || data.format > FORMAT) throw unreadable(fileOf(project))
      const { format: _, ...file } = data
      return file
    },
    writeProject: (project, file) =>
      replaceFile(fileOf(project), JSON.stringify({ format: FORMAT, ...file }), `The record of ${project}`, PRIVATE),
    renew,
    release: async () => {
      if ((await readLease())?.holder === holder) await rm(lock, { force: true })
    },
  }
}

const isCreated = async (path: string, text: string): Promise<boolean> => {
  try {
    await writeFile(path, text, { flag: 'wx', mode: PRIVATE })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

const textOf = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

const parsed = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const held = (folder: string): EspalierError =>
  new EspalierError('E_AGENT_DATA', `Another agent uses the data folder ${folder}.`, {
    hint: 'Stop it, or name another folder with --data.',
  })

const unreadable = (path: string): EspalierError =>
  new EspalierError('E_AGENT_DATA', `${path} is damaged, or a newer version of Espalier wrote it.`, {
    hint: 'Run that version, or delete the file: its differences then count as unrecorded.',
  })
