/**
 * Persists the agent's state between rounds. Each project has one file, which is replaced atomically. The folder is
 * locked, so that only one agent uses it.
 */
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { EspalierError, makeStateFolder, PRIVATE, readIfExists, replaceFile } from '../base/index.ts'
import { AGENT_STATES, type AgentReason, type ApplyView, REPAIRS } from '../model/index.ts'
import { jsonIn, type Lease, RENEW_MS, takeLease } from './lease.ts'

const FORMAT = 1

const value = z.string().nullable()
/** Written by the agent itself. */
const REASON = z.custom<AgentReason>((one) => typeof one === 'string')
/** `seen` is the live value at the last refresh, `base` when `want` was set, and absent if it is unknown. */
const entry = z.object({ want: value, seen: value, base: value.optional(), agreed: z.boolean() })

/** A project's record, attempts and suspension are all in one file, so that they are always consistent. */
const PROJECT_FILE = z.object({
  format: z.number(),
  record: z
    .object({
      /** The version of the program that wrote the record. */
      program: z.string(),
      /** The digest of the manifests that the record was written for. */
      manifests: z.string(),
      entries: z.record(z.string(), entry),
      /** The declared live computes, by id, and whether each is accepted. */
      computes: z.record(z.string(), z.boolean()),
      /** When the newest branch was created, at the time that each rule was first seen. */
      rules: z.record(z.string(), z.string()),
    })
    .optional(),
  refusals: z.array(
    z.object({ key: z.string(), want: value, live: value, why: z.enum(['not-effective', 'rejected']) }),
  ),
  reverts: z.array(z.object({ at: z.number(), key: z.string(), want: value })),
  /** When each difference was first seen with its current values, and what has happened since. */
  sightings: z.record(
    z.string(),
    z.object({
      firstSeenAt: z.number(),
      refreshedAt: z.number(),
      fetchedAt: z.number(),
      isChanging: z.boolean(),
    }),
  ),
  /** The number of consecutive failed attempts. `retryAt` is the time of the next attempt. */
  failures: z.number(),
  retryAt: z.number().optional(),
  failure: z.string().optional(),
  /** The failed operation of each compute that has one. */
  failedOperations: z.record(
    z.string(),
    z.object({ operation: z.string(), message: z.string(), repair: z.enum(REPAIRS).exactOptional() }),
  ),
  /** An apply that has not ended. `journal` is relative to the data folder, and `version` is that of the manifests. */
  applying: z.object({ journal: z.string(), version: z.string() }).optional(),
  /** The changes that were applied since the last displayed round. */
  applied: z
    .object({
      at: z.string(),
      version: z.string(),
      done: z.array(z.string()),
      interruptions: z.number(),
      effects: z.array(z.string()),
    })
    .optional(),
  /**
   * The ids of the changes that this agent started in an incomplete apply, and the ids of their computes. A change that
   * creates a compute stays until the compute is listed.
   */
  moving: z.array(z.string()).optional(),
  /**
   * The chains that have started but are not complete: the version that declared them, the ids of their changes, and the
   * branches that are without a primary in the meantime.
   */
  chain: z.object({ version: z.string(), changes: z.array(z.string()), branches: z.array(z.string()) }).optional(),
  /** The branches that have no primary now, and the number of steps that are left. */
  gap: z.object({ branches: z.array(z.string()), steps: z.number(), since: z.number() }).exactOptional(),
  /** The steps that started in the last 24 hours, except those that neither disrupt connections nor use up a limit. */
  attempts: z.array(
    z.object({
      at: z.number(),
      compute: z.string(),
      interrupts: z.boolean(),
      /** What the step's change uses up, by the rule that limits it. */
      used: z.record(z.string(), z.number()),
      /** The ids of the step and its change. Absent once the outcome of the step is known. */
      open: z.object({ step: z.string(), change: z.string() }).optional(),
    }),
  ),
  /** The restart window that some steps are waiting for or running in. */
  wait: z.object({ opensAt: z.number(), closesAt: z.number(), failed: z.boolean() }).optional(),
  missed: z
    .object({
      opensAt: z.string(),
      closesAt: z.string(),
      cause: z.enum(['suspended', 'agent-down', 'failed', 'too-little-time']),
    })
    .optional(),
  /** The digest of the declaration whose restarts somebody accepted although they exceed the limit of all projects. */
  overLimit: z.string().optional(),
  suspension: z.object({ until: z.number(), reason: z.string() }).optional(),
  /** The digest of the declaration whose removals were notified. */
  releasedBy: z.string().optional(),
  /** The state that is displayed, and the time since which the project has been in that state. */
  status: z.object({ state: z.enum(AGENT_STATES), reason: REASON.optional(), since: z.number() }).exactOptional(),
  /** The state in the project's last event. */
  notified: z.object({ state: z.enum(AGENT_STATES), reason: z.string().optional() }).exactOptional(),
})

export type ProjectFile = Omit<z.infer<typeof PROJECT_FILE>, 'format'>

export const NEW_PROJECT_FILE: ProjectFile = {
  refusals: [],
  reverts: [],
  sightings: {},
  failures: 0,
  failedOperations: {},
  attempts: [],
}

/** For each project, a digest of its declaration and the files that declare it. */
const declared = z.record(z.string(), z.object({ digest: z.string(), files: z.array(z.string()) }))

const SOURCE_FILE = z.object({
  format: z.number(),
  /** The repository and the ref, or the folder, that the manifests come from. */
  from: z.string(),
  /** The last version without errors. */
  valid: z.object({ version: z.string(), projects: declared }).optional(),
  /** The last version that either descends from the version before it or was accepted explicitly. */
  accepted: z.object({ version: z.string(), projects: declared }).optional(),
  /** For each project, the version before its declaration changed last. Absent once nothing of it is left to report. */
  replaced: z.record(z.string(), z.string()),
  fetchedAt: z.number().optional(),
})

const PAST_APPLY = z.object({
  at: z.string(),
  version: z.string(),
  done: z.array(z.string()),
  interruptions: z.number(),
})

/** An apply in the history of a project. `version` is that of the manifests. */
export type PastApply = z.infer<typeof PAST_APPLY>

const LONGEST_HISTORY = 200

export type SourceFile = Omit<z.infer<typeof SOURCE_FILE>, 'format'>

const DAY_MS = 24 * 60 * 60_000

/** A value that is kept in a file. Writes are serialized, and a value that has not changed is not written. */
export class Stored<T> {
  /** May be newer than the file. */
  value: T
  readonly #write: (value: T) => Promise<void>
  #written = ''
  #writing: Promise<void> = Promise.resolve()

  constructor(value: T, write: (value: T) => Promise<void>) {
    this.value = value
    this.#write = write
  }

  save(change: (value: T) => T): Promise<void> {
    this.value = change(this.value)
    const { value } = this
    const written = this.#writing.then(async () => {
      const text = JSON.stringify(value)
      if (text !== this.#written) await this.#write(value)
      this.#written = text
    })
    this.#writing = written.catch(() => undefined)
    return written
  }
}

export interface DataFolder extends Lease {
  readonly path: string
  /** Whether the disk is full. Then only the lease and the records of running steps and open chains are written. */
  isFull(): boolean
  /** Frees the reserve if the error is that the disk is full. */
  noteError(error: unknown): Promise<void>
  readonly renewEveryMs: number
  /**
   * Returns `undefined` if nothing is stored for the project.
   *
   * @throws {EspalierError} `E_AGENT_DATA` if the file is damaged, or was written by a newer version of Espalier.
   */
  readProject(project: string): Promise<ProjectFile | undefined>
  writeProject(project: string, file: ProjectFile): Promise<void>
  /** The ids of the projects of which something is stored, whether or not they are still declared. */
  storedProjects(): Promise<readonly string[]>
  /** @throws {EspalierError} `E_AGENT_DATA` as for {@link readProject}. */
  readSource(): Promise<SourceFile | undefined>
  writeSource(file: SourceFile): Promise<void>
  /** The applies of a project, at most 200, newest first. */
  readHistory(project: string): Promise<readonly PastApply[]>
  addToHistory(project: string, apply: Omit<ApplyView, 'effects'>): Promise<void>
  /**
   * Chooses the path for the journal of an apply.
   *
   * @returns a path such as `journals/2026-11-22/020003-quiet-river-12345678-0a1b2c3d4e5f-7f3a.jsonl` in the folder.
   */
  newJournal(project: string, version: string): Promise<string>
  /** Removes the journals that were written on days before `time`. */
  removeJournals(time: number): Promise<void>
}

/**
 * Opens the folder for one agent.
 *
 * @param holder a random name, so that a restarted process does not mistake its predecessor's lease for its own.
 * @throws {EspalierError} `E_AGENT_DATA` if another agent holds the folder.
 */
export const openDataFolder = async (
  folder: string,
  { holder, now }: { readonly holder: string; readonly now: () => number },
): Promise<DataFolder> => {
  const projects = join(folder, 'projects')
  const journals = join(folder, 'journals')
  makeStateFolder(folder, 0o700)
  await mkdir(projects, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const reserve = new Reserve(join(folder, 'reserve'))
  const lease = await reserve.use(() => takeLease(folder, holder, now))
  await reserve.refill()
  for (const name of await readdir(projects)) if (name.endsWith('.tmp')) await rm(join(projects, name))

  const fileOf = (project: string): string => join(projects, `${encodeURIComponent(project)}.json`)
  const sourceFile = join(folder, 'state.json')
  const historyOf = (project: string): string => join(folder, 'history', `${encodeURIComponent(project)}.jsonl`)
  const readHistory = async (project: string): Promise<readonly PastApply[]> =>
    ((await readIfExists(historyOf(project))) ?? '')
      .split('\n')
      .flatMap((line) => PAST_APPLY.safeParse(jsonIn(line)).data ?? [])
  const read = async <T extends { readonly format: number }>(path: string, shape: z.ZodType<T>) => {
    const text = await readIfExists(path)
    if (text === undefined) return undefined
    const { data } = shape.safeParse(jsonIn(text))
    if (data === undefined || data.format > FORMAT) throw unreadable(path)
    const { format: _, ...file } = data
    return file
  }
  const write = (path: string, file: object, what: string): Promise<void> =>
    reserve.use(async () => {
      await lease.check()
      await replaceFile(path, JSON.stringify({ format: FORMAT, ...file }), what, PRIVATE)
    })
  return {
    path: folder,
    renewEveryMs: RENEW_MS,
    isFull: () => reserve.isFull,
    noteError: (error) => reserve.note(error),
    readProject: (project) => read(fileOf(project), PROJECT_FILE),
    writeProject: (project, file) => write(fileOf(project), file, `The record of ${project}`),
    storedProjects: async () =>
      (await readdir(projects)).flatMap((name) =>
        name.endsWith('.json') ? [decodeURIComponent(name.slice(0, -'.json'.length))] : [],
      ),
    readSource: () => read(sourceFile, SOURCE_FILE),
    writeSource: (file) => write(sourceFile, file, "The record of the agent's source"),
    readHistory,
    addToHistory: async (project, { at, version, done, interruptions }) => {
      await mkdir(join(folder, 'history'), { recursive: true, mode: 0o700 })
      await lease.check()
      const all = [{ at, version, done, interruptions }, ...(await readHistory(project))].slice(0, LONGEST_HISTORY)
      const lines = all.map((one) => `${JSON.stringify(one)}\n`)
      await replaceFile(historyOf(project), lines.join(''), `The history of ${project}`, PRIVATE)
    },
    newJournal: async (project, version) => {
      const [day = '', time = ''] = new Date(now()).toISOString().split('T')
      await reserve.use(() => mkdir(join(journals, day), { recursive: true, mode: 0o700 }))
      const name = [time.slice(0, 8).replaceAll(':', ''), project, version.slice(0, 12), randomUUID().slice(0, 4)]
      return join(journals, day, `${name.join('-')}.jsonl`)
    },
    removeJournals: async (time) => {
      for (const day of await readdir(journals).catch(() => [])) {
        if (Date.parse(day) + DAY_MS < time) await rm(join(journals, day), { recursive: true, force: true })
      }
    },
    ...lease,
    renew: async () => {
      await reserve.use(lease.renew)
      if (reserve.isFull) await reserve.refill()
    },
  }
}

const RESERVE_BYTES = 1024 * 1024

/** A file that is deleted when the disk is full, so that the agent can record what it has already started. */
class Reserve {
  readonly #path: string
  isFull = false

  constructor(path: string) {
    this.#path = path
  }

  async use<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      if (!isDiskFull(error)) throw error
      await this.note(error)
      return write()
    }
  }

  async note(error: unknown): Promise<void> {
    if (!isDiskFull(error)) return
    this.isFull = true
    await rm(this.#path, { force: true })
  }

  /** Ends the emergency once there is room for the reserve and as much again. */
  async refill(): Promise<void> {
    try {
      await writeFile(this.#path, Buffer.alloc(2 * RESERVE_BYTES), { mode: PRIVATE })
      await truncate(this.#path, RESERVE_BYTES)
      this.isFull = false
    } catch (error) {
      if (!isDiskFull(error)) throw error
      await this.note(error)
    }
  }
}

const FULL = new Set(['ENOSPC', 'EDQUOT'])

/** Whether the error, or one of its causes, is that the disk is full. */
const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && FULL.has(String(error.code))) || isDiskFull(error.cause))

const unreadable = (path: string): EspalierError =>
  new EspalierError('E_AGENT_DATA', `${path} is damaged, or was written by a newer version of Espalier.`, {
    hint: 'Use the newer version, or delete the file. The differences recorded in it then count as unrecorded.',
  })
