/** Runs agents on a sandbox in virtual time, with manifests in a folder. */

import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentOptions } from '../../src/agent/agent.ts'
import { type Agent, folderSource, Notifier, openAgent, openDataFolder } from '../../src/agent/index.ts'
import type { Version } from '../../src/agent/source/source.ts'
import type { Send } from '../../src/agent/tell/notifier.ts'
import type { Clock } from '../../src/base/index.ts'
import type { ProjectView } from '../../src/model/index.ts'
import type { Seed } from '../../src/sandbox/index.ts'
import { send as sendNow } from '../api/send.ts'
import { openStage, type Stage, type StageOptions } from '../reliability/stage.ts'
import { Life } from './life.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

/** For tests that span hours: each round takes real time, so there should be few rounds. */
export const SELDOM = { interval: HOUR }

/** A branch with a primary of 1 CU that is always active. */
export const branchSeed = (name: string, tail: string) => ({
  id: `br-${name}-${tail}`,
  name,
  computes: [{ id: `ep-${name}-${tail}`, size: 1, scaleToZero: 'never' as const }],
})

/** A project whose branch `main` has the compute `ep-main-TAIL`. */
export const projectSeed = (id: string, tail = '11111111') => ({ id, branches: [branchSeed('main', tail)] })

/** Declares that compute. */
export const manifestOf = (project: string, size: number, head = ''): string =>
  `version: 1\nproject: ${project}\n${head}branches:\n  main: { primary: { size: ${size} } }\n`

export interface WorldOptions extends StageOptions {
  /** Called when the lease of an agent is due for renewal. By default, leases are not renewed, as virtual time passes fast. */
  readonly renew?: (renew: () => Promise<void>) => Promise<void>
  readonly renewEveryMs?: number
  /** Receives the events of all agents. */
  readonly send?: Send
}

export interface World {
  readonly stage: Stage
  readonly folder: string
  readonly log: readonly string[]
  /** Writes the manifests, which the agent reads within half a minute. */
  declare(text: string | Uint8Array, file?: string): Promise<void>
  /** Writes each text to its own file, and removes the files without a text. */
  declareAll(texts: readonly (string | undefined)[]): Promise<void>
  /** Makes reading the source fail, until called with `undefined`. */
  breakGit(error: Error | undefined): void
  /** Removes the ref, or rewrites its history. */
  moveGit(how: { readonly isGone?: boolean; readonly isRewritten?: boolean }): void
  /** @param life of its process. @param data the name of its data folder, for a second agent. */
  start(options?: Partial<AgentOptions>, life?: Life, data?: string): Promise<Agent>
  /** Whether an agent that was started here has ended. */
  endOf(agent: Agent): { readonly isDone: () => boolean }
  /** Sets the calendar, which the agents read, by so many milliseconds. */
  setClock(by: number): void
  /** Lets time pass. */
  pass(ms: number): Promise<void>
  /** Sends a request to the service, bypassing the agent. */
  byHand(method: 'PATCH' | 'POST' | 'DELETE', path: string, body?: Readonly<Record<string, unknown>>): Promise<void>
  edit(project: string, compute: string, body: Readonly<Record<string, unknown>>): Promise<void>
  writes(): readonly string[]
  close(): Promise<void>
}

export const openWorld = async (
  seed: Seed,
  { send, renew, renewEveryMs = MINUTE, ...options }: WorldOptions = {},
): Promise<World> => {
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
  /** Contains only running agents: a simulated month starts dozens, and each holds every project in memory. */
  const agents = new Map<Agent, { readonly life: Life; readonly ended: Promise<void> }>()
  let started = 0
  const log: string[] = []
  const onDisk = folderSource([manifests], folder)
  let version: Version | undefined
  const versions = new Map<string, Version>()
  const readVersion = async (): Promise<void> => {
    version = await onDisk.read()
    if (version !== undefined) versions.set(version.id, version)
    // A simulated month has hundreds of versions.
    for (const id of [...versions.keys()].slice(0, -20)) versions.delete(id)
  }
  let moved: Parameters<World['moveGit']>[0] = {}
  let broken: Error | undefined
  let skew = 0
  const bury = async (agent: Agent, life: Life): Promise<void> => {
    agents.delete(agent)
    await life.end()
  }
  const world: World = {
    stage,
    folder,
    log,
    declare: async (text, file = 'espalier.yaml') => {
      await writeFile(join(manifests, file), text)
      await readVersion()
    },
    declareAll: async (texts) => {
      await Promise.all(
        texts.map((text, index) => {
          const file = join(manifests, `${String(index).padStart(5, '0')}.yaml`)
          return text === undefined ? rm(file, { force: true }) : writeFile(file, text)
        }),
      )
      await readVersion()
    },
    setClock: (by) => {
      skew += by
    },
    breakGit: (error) => {
      broken = error
    },
    moveGit: (how) => {
      moved = how
    },
    start: async (more = {}, life = new Life(), folderName = 'data') => {
      for (const [agent, { life }] of agents) if (life.isDead) await bury(agent, life)
      started += 1
      await mkdir(join(folder, folderName), { recursive: true })
      const path = await life.begin(join(folder, folderName), join(folder, `process-${started}`))
      const clock = { ...life.clock(stage.clock), date: () => stage.clock.now() + skew }
      const data = await openDataFolder(path, { holder: randomUUID(), now: clock.date })
      const notifier = send && notifierOf(life, clock, send)
      const agent = await stage.during(
        openAgent({
          // Manifests are read from disk only when a test writes them.
          source: {
            ...onDisk,
            read: async () => {
              if (broken !== undefined) throw broken
              return moved.isGone === true ? undefined : version
            },
            earlier: async (id) => versions.get(id),
            continues: async (one, earlier) => one === earlier || moved.isRewritten !== true,
          },
          data:
            renew === undefined
              ? { ...data, renewEveryMs: 24 * HOUR, renew: async () => undefined }
              : { ...data, renewEveryMs, renew: () => renew(data.renew) },
          ...(notifier === undefined ? {} : { notifier }),
          keys: [{ name: 'sandbox', read: async () => stage.sandbox.apiKey }],
          api: { baseUrl: stage.sandbox.apiUrl, clock, random: () => 0.5 },
          policy: { onGit: 'apply', onDrift: 'report', allow: new Set(['restart']) },
          interval: 5 * MINUTE,
          gitInterval: 30_000,
          concurrency: 16,
          operationTimeoutMs: 10 * MINUTE,
          stopTimeoutMs: 10 * MINUTE,
          clock,
          random: () => 0.5,
          log: (line) => log.push(line),
          ...more,
        }),
      )
      const ended = agent.run().finally(async () => {
        agents.delete(agent)
        await notifier?.end()
        await data.release()
        await life.end()
      })
      ended.catch(() => undefined)
      agents.set(agent, { life, ended })
      return agent
    },
    endOf: (agent) => {
      let isDone = false
      const ended = agents.get(agent)?.ended
      const end = (): void => {
        isDone = true
      }
      void ended?.then(end, end)
      return { isDone: () => isDone }
    },
    pass: (ms) => stage.during(stage.clock.sleep(ms)),
    byHand: async (method, path, body) => {
      const api = stage.connect()
      await stage.during(sendNow(api, { method, path, body } as never)).finally(() => api.close())
      writes.pop()
    },
    edit: (project, compute, endpoint) =>
      world.byHand('PATCH', `/projects/${project}/endpoints/${compute}`, { endpoint }),
    writes: () => writes,
    close: async () => {
      for (const [agent, { life, ended }] of [...agents]) {
        agent.stop()
        if (life.isDead) await bury(agent, life)
        else await stage.during(ended.catch(() => undefined))
      }
      await stage.sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return world
}

const notifierOf = (life: Life, clock: Clock, send: Send): Notifier =>
  new Notifier({
    send: (body, headers) => life.moment(() => send(body, headers)),
    key: Buffer.from('a key of thirty two bytes, at least'),
    clock,
    log: () => undefined,
  })

export const stateOf = (agent: Agent, id: string): string => {
  const project = projectOf(agent, id)
  return project.reason === undefined ? project.state : `${project.state}: ${project.reason}`
}

export const projectOf = (agent: Agent, id: string): ProjectView => {
  const found = agent.view().projects.find((project) => project.id === id)
  if (found === undefined) throw new Error(`no project ${id}`)
  return found
}
