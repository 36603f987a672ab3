/** An agent that runs on a sandbox in virtual time, with manifests in a folder. */
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AgentOptions,
  folderSource,
  openAgent,
  openDataFolder,
  type ProjectView,
  type RunningAgent,
  type Version,
} from '../../src/agent/index.ts'
import type { Seed } from '../../src/sandbox/index.ts'
import { openStage, type Stage, type StageOptions } from '../reliability/stage.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export interface World {
  readonly stage: Stage
  readonly folder: string
  readonly log: readonly string[]
  /** Writes the manifests, which the agent reads within half a minute. */
  declare(text: string | Uint8Array, file?: string): Promise<void>
  /** A file for each of them. */
  declareAll(texts: readonly string[]): Promise<void>
  /** Until it is called with `undefined`. */
  breakGit(error: Error | undefined): void
  /** Takes the ref away, or rewrites its history. */
  moveGit(how: { readonly isGone?: boolean; readonly isRewritten?: boolean }): void
  start(options?: Partial<AgentOptions>): Promise<RunningAgent>
  /** Starts one that is as dead as after `kill -9` from its n-th write on, before or after that is done. */
  startDoomed(write: number, isDone: boolean): Promise<{ readonly isDead: () => boolean }>
  /** Lets time pass. */
  pass(ms: number): Promise<void>
  /** By hand, past the agent. */
  edit(project: string, compute: string, body: Readonly<Record<string, unknown>>): Promise<void>
  writes(): readonly string[]
  close(): Promise<void>
}

export const openWorld = async (seed: Seed, options: StageOptions = {}): Promise<World> => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-agent-'))
  const writes: string[] = []
  const stage = await openStage({
    seed,
    ...options,
    onHandled: (method, path, status) => {
      options.onHandled?.(method, path, status)
      if (method !== 'GET') writes.push(`${new Date(stage.clock.now()).toISOString()} ${method} ${path} ${status}`)
    },
  })
  const manifests = join(folder, 'manifests')
  await mkdir(manifests)
  const doomed = new Set<RunningAgent>()
  /** Without those that have ended: a month has dozens, and each knows every project. */
  const agents = new Map<RunningAgent, Promise<void>>()
  const log: string[] = []
  const onDisk = folderSource([manifests], folder)
  let version: Version | undefined
  let moved: Parameters<World['moveGit']>[0] = {}
  let broken: Error | undefined
  const world: World = {
    stage,
    folder,
    log,
    declare: async (text, file = 'espalier.yaml') => {
      await writeFile(join(manifests, file), text)
      version = await onDisk.read()
    },
    declareAll: async (texts) => {
      await Promise.all(
        texts.map((text, index) => writeFile(join(manifests, `${String(index).padStart(5, '0')}.yaml`), text)),
      )
      version = await onDisk.read()
    },
    breakGit: (error) => {
      broken = error
    },
    moveGit: (how) => {
      moved = how
    },
    start: async (more = {}) => {
      const data =
        more.data ?? (await openDataFolder(join(folder, 'data'), { holder: randomUUID(), now: stage.clock.now }))
      const agent = await stage.during(
        openAgent({
          // In virtual time, neither is asked every few seconds.
          source: {
            ...onDisk,
            read: async () => {
              if (broken !== undefined) throw broken
              return moved.isGone === true ? undefined : version
            },
            continues: async (one, earlier) => one === earlier || moved.isRewritten !== true,
          },
          data: { ...data, renewEveryMs: 24 * HOUR, renew: async () => undefined },
          keys: [{ name: 'sandbox', read: async () => stage.sandbox.apiKey }],
          api: { baseUrl: stage.sandbox.apiUrl, clock: stage.clock, random: () => 0.5 },
          policy: { onGit: 'apply', onDrift: 'report', onUnrecorded: 'report', allow: new Set(['restart']) },
          budgets: {},
          interval: 5 * MINUTE,
          gitInterval: 30_000,
          requestShare: 0.5,
          concurrency: 16,
          operationTimeoutMs: 10 * MINUTE,
          keepMs: 90 * 24 * HOUR,
          clock: stage.clock,
          random: () => 0.5,
          log: (line) => log.push(line),
          ...more,
        }),
      )
      const ended = agent.run().finally(() => agents.delete(agent))
      ended.catch(() => undefined)
      agents.set(agent, ended)
      return agent
    },
    startDoomed: async (write, isDone) => {
      const data = await openDataFolder(join(folder, 'data'), { holder: randomUUID(), now: stage.clock.now })
      let writes = 0
      const never = new Promise<never>(() => undefined)
      const dying =
        <A extends readonly unknown[]>(work: (...args: A) => Promise<void>) =>
        async (...args: A): Promise<void> => {
          writes += 1
          if (writes > write) return never
          if (writes < write || isDone) await work(...args)
          if (writes === write) return never
        }
      const agent = await world.start({
        data: {
          ...data,
          renewEveryMs: 24 * HOUR,
          renew: dying(async () => undefined),
          writeProject: dying(data.writeProject),
          writeSource: dying(data.writeSource),
        },
      })
      doomed.add(agent)
      return { isDead: () => writes >= write }
    },
    pass: (ms) => stage.during(stage.clock.sleep(ms)),
    edit: async (project, compute, endpoint) => {
      const api = stage.connect()
      await stage.during(
        api.send({ method: 'PATCH', path: `/projects/${project}/endpoints/${compute}`, body: { endpoint } } as never),
      )
      await api.close()
      writes.pop()
    },
    writes: () => writes,
    close: async () => {
      for (const [agent, ended] of [...agents]) {
        agent.stop()
        if (doomed.has(agent)) continue
        await stage.during(ended.catch(() => undefined))
      }
      await stage.sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return world
}

export const stateOf = (agent: RunningAgent, id: string): string => {
  const project = projectOf(agent, id)
  return project.reason === undefined ? project.state : `${project.state}: ${project.reason}`
}

export const projectOf = (agent: RunningAgent, id: string): ProjectView => {
  const found = agent.view().projects.find((project) => project.id === id)
  if (found === undefined) throw new Error(`no project ${id}`)
  return found
}
