/** Simulates days of an agent: commits, manual changes, windows, API and git faults, restarts and kills. */
import type { Agent } from '../../src/agent/index.ts'
import { EspalierError } from '../../src/base/index.ts'
import { disk, Life } from './life.ts'
import { MonthWatch } from './month-watch.ts'
import {
  branchId,
  computeId,
  faultsOf,
  indexOf,
  isSwapper,
  manifestOf,
  PREVIEW_SIZE,
  projectId,
  SIZES,
  SWAPPED,
  seedOf,
} from './month-world.ts'
import { HOUR, MINUTE, openWorld, type World } from './running.ts'

export interface MonthOptions {
  readonly projects: number
  /** Days with faults. Two days without faults follow. */
  readonly days: number
  readonly interval: number
  /** Returns numbers from 0 to 1, in the same sequence in each run. */
  readonly random: () => number
  readonly onDay?: (day: number, requests: number, problems: readonly string[]) => void
}

export interface Month {
  readonly watch: MonthWatch
  readonly requests: number
  readonly commits: number
  readonly edits: number
  readonly restarts: number
  readonly kills: number
  readonly gitFaults: number
  readonly suspensions: number
  /** How often a project left the manifests, and joined them again. */
  readonly absences: number
  readonly keyFaults: number
  readonly fullDisks: number
  readonly previews: number
  readonly swaps: number
  /** How often a project was suspended while two of its primaries were changing places. */
  readonly suspendedSwaps: number
}

const GIT_FAULTS = ['unreachable', 'gone', 'broken', 'empty', 'rewritten'] as const

export const simulateMonth = async (options: MonthOptions): Promise<Month> => {
  const { projects: count, days, interval, random } = options
  const sizes = Array.from({ length: count }, () => 1)
  const watch = new MonthWatch(() => world.stage.clock.now(), sizes)
  /** The paths of the requests by people and other programs that are under way. */
  const hands = new Set<string>()
  const world: World = await openWorld(seedOf(count), {
    random,
    renew: (renew) => renew(),
    renewEveryMs: 10 * MINUTE,
    strideMs: 500,
    onHandled: (method, path, status) => {
      const isByHand = method !== 'GET' && [...hands].some((one) => path.endsWith(one))
      watch.handled(path, !isByHand, world.stage.sandbox.control.faults())
      if (method === 'PATCH' && status < 300 && /-(one|two)$/.test(path) && chance(0.2)) suspendNow(indexOf(path))
    },
    send: async (body) => {
      const luck = random()
      if (luck < 0.1) return 503
      if (luck < 0.15) throw new Error('no answer')
      watch.received(body)
      // The event arrived, but the sender sees an error.
      if (luck < 0.2) throw new Error('the connection was reset')
      return 204
    },
  })
  const { stage } = world
  const { control } = stage.sandbox
  const counts = {
    commits: 0,
    edits: 0,
    restarts: 0,
    kills: 0,
    gitFaults: 0,
    suspensions: 0,
    absences: 0,
    keyFaults: 0,
    fullDisks: 0,
    previews: 0,
    swaps: 0,
    suspendedSwaps: 0,
  }
  const chance = (probability: number): boolean => random() < probability
  /** The projects that have left the manifests, with what ends their absence. */
  const away = new Map<number, () => void>()
  /** The projects whose primaries have changed places. */
  const swapped = new Set<number>()
  const texts = (): (string | undefined)[] =>
    sizes.map((size, index) => (away.has(index) ? undefined : manifestOf(index, size, swapped.has(index))))
  /** While it is set, the file of the key holds this instead. */
  let wrongKey: string | undefined
  const byHand = async (...request: Parameters<World['byHand']>): Promise<void> => {
    hands.add(request[1])
    await world.byHand(...request).finally(() => hands.delete(request[1]))
  }
  const until = (time: number): Promise<void> => world.pass(Math.max(0, time - stage.clock.now()))

  const start = async (): Promise<{ readonly agent: Agent; readonly life: Life }> => {
    const life = new Life()
    const agent = await world.start(
      {
        interval,
        gitInterval: 10 * MINUTE,
        random,
        keys: [{ name: 'sandbox', read: async () => wrongKey ?? stage.sandbox.apiKey }],
        policy: { onGit: 'apply', onDrift: 'revert', allow: new Set(['restart', 'move']) },
        log: () => undefined,
      },
      life,
    )
    return { agent, life }
  }
  const commit = async (): Promise<void> => {
    for (const index of sizes.keys()) {
      if (away.has(index) || !chance(Math.max(0.05, 1 / count))) continue
      sizes[index] = SIZES[Math.floor(random() * SIZES.length)] ?? 1
      watch.committed(index, sizes[index])
      counts.commits += 1
    }
    for (const index of sizes.keys()) {
      if (!isSwapper(index) || away.has(index) || !chance(0.5)) continue
      counts.swaps += 1
      if (!swapped.delete(index)) swapped.add(index)
    }
    await world.declareAll(texts())
  }
  const editSome = async (): Promise<void> => {
    for (const index of sizes.keys()) {
      if (!chance(Math.max(0.003, 0.1 / count))) continue
      counts.edits += 1
      // A fault may reject the change.
      const path = `/projects/${projectId(index)}/endpoints/${computeId(index)}`
      await byHand('PATCH', path, { endpoint: { suspend_timeout_seconds: 600 } }).catch(() => undefined)
    }
  }
  /** A project leaves the manifests, or all join them again. */
  const comeAndGo = async (): Promise<void> => {
    const index = Math.floor(random() * count)
    if (away.size === 0) {
      counts.absences += 1
      away.set(index, watch.begin('away', index))
    } else {
      for (const ended of away.values()) ended()
      away.clear()
    }
    await world.declareAll(texts())
  }
  const suspendSome = async (): Promise<void> => {
    for (const index of sizes.keys()) {
      if (away.has(index) || !chance(Math.max(0.002, 0.1 / count))) continue
      counts.suspensions += 1
      const until = stage.clock.now() + (1 + Math.floor(random() * 4)) * HOUR
      const known = running.agent.view().projects.some(({ id }) => id === projectId(index))
      if (!known) continue
      watch.begin('suspended', index, until)
      await running.agent.suspend([projectId(index)], until, 'a migration')
    }
  }
  /** Called while the primaries of a project change places. */
  const suspendNow = (index: number): void => {
    const known = running.agent.view().projects.find(({ id }) => id === projectId(index))
    if (known === undefined || known.state === 'Suspended') return
    counts.suspendedSwaps += 1
    const until = stage.clock.now() + 3 * HOUR
    watch.begin('suspended', index, until)
    void running.agent.suspend([known.id], until, 'a migration')
  }
  /** Previews are created and deleted by a program that does not know of the agent. */
  const preview = async (): Promise<void> => {
    for (const index of sizes.keys()) {
      if (!chance(Math.max(0.01, 0.2 / count))) continue
      const path = `/projects/${projectId(index)}/branches`
      const known = previewsIn().find((branch) => branch.projectId === projectId(index))
      const body = {
        branch: { name: `preview/${counts.previews}` },
        endpoints: [{ type: 'read_write', autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 }],
      }
      counts.previews += 1
      const done = known === undefined ? byHand('POST', path, body) : byHand('DELETE', `${path}/${known.id}`)
      // A fault may reject the request.
      await done.catch(() => undefined)
    }
  }
  const fillDisk = async (): Promise<void> => {
    counts.fullDisks += 1
    const ended = watch.begin('disk')
    disk.isFull = true
    await world.pass(40 * MINUTE)
    disk.isFull = false
    await world.pass(15 * MINUTE)
    ended()
  }
  /** The key is replaced by an empty file or by a wrong key, and some minutes later by the right one. */
  const rotateKey = async (): Promise<void> => {
    counts.keyFaults += 1
    const ended = watch.begin('key')
    wrongKey = chance(0.5) ? '' : 'a-key-that-nobody-issued'
    await world.pass(25 * MINUTE)
    wrongKey = undefined
    await world.pass(11 * MINUTE)
    ended()
  }
  /** @returns a function that ends the fault. */
  const breakGit = async (): Promise<() => Promise<void>> => {
    const kind = GIT_FAULTS[Math.floor(random() * GIT_FAULTS.length)]
    const ended = watch.begin('git')
    counts.gitFaults += 1
    if (kind === 'unreachable') world.breakGit(new EspalierError('E_GIT', 'git ls-remote failed: no route to host'))
    if (kind === 'gone' || kind === 'rewritten')
      world.moveGit({ isGone: kind === 'gone', isRewritten: kind === 'rewritten' })
    if (kind === 'empty') await world.declareAll(sizes.map(() => '# nothing\n'))
    if (kind === 'broken')
      await world.declareAll(
        texts().map((text, index) => (text !== undefined && index % 10 === 1 ? 'version: 1\nproject: [' : text)),
      )
    if (kind === 'rewritten') await commit()
    return async () => {
      world.breakGit(undefined)
      if (kind === 'rewritten')
        await running.agent.reconcile('all', running.agent.view().source.version).catch(() => undefined)
      world.moveGit({})
      await world.declareAll(texts())
      // Long enough for the next poll.
      await world.pass(11 * MINUTE)
      ended()
    }
  }
  /** Stops or kills the agent, and starts it again some minutes later. */
  const restart = async (): Promise<void> => {
    const isKilled = chance(0.5)
    const ended = watch.begin('agent')
    if (isKilled) {
      running.life.kill()
      counts.kills += 1
    } else {
      running.agent.stop()
      counts.restarts += 1
    }
    await world.pass((15 + Math.floor(random() * 30)) * MINUTE)
    if (chance(0.2)) await until(Math.ceil((stage.clock.now() + 1) / HOUR) * HOUR)
    running = await start()
    ended()
  }
  /** Plays a person in the morning: ends stuck operations and runs the displayed commands. */
  const tidy = async (): Promise<void> => {
    control.load(control.dump())
    const { projects } = running.agent.view()
    for (const { id, command } of projects) {
      const [, action, compute] = /^espalier compute (start|restart) (\S+) --project/.exec(command ?? '') ?? []
      if (compute === undefined) continue
      await byHand('POST', `/projects/${id}/endpoints/${compute}/${action}`).catch(() => undefined)
    }
    await running.agent.reconcile(projects.filter(({ state }) => state === 'Blocked').map(({ id }) => id))
  }
  const records = () => control.dump().changes.flatMap((change) => ('put' in change ? [change.put] : []))
  const previewsIn = () =>
    records().flatMap((one) => (one.kind === 'branch' && one.name.startsWith('preview/') ? [one] : []))
  /** The primary of each branch, by the id of the branch. */
  const primaries = () =>
    new Map(
      records().flatMap((one) =>
        one.kind === 'compute' && one.type === 'read_write' ? [[one.branchId, one] as const] : [],
      ),
    )
  const live = () => {
    const found = primaries()
    const indexes = [...sizes.keys()]
    return {
      sizes: indexes.map((index) => found.get(branchId(index))?.max),
      without: indexes.filter(
        (index) => isSwapper(index) && SWAPPED.some((name) => !found.has(`${branchId(index)}-${name}`)),
      ),
    }
  }

  await world.declareAll(texts())
  const began = stage.clock.now() + 2 * HOUR
  let running = await start()
  try {
    await until(began)
    for (const fault of faultsOf(count)) control.addFault(fault)
    let mend: (() => Promise<void>) | undefined
    for (let hour = 0; hour < days * 24; hour += 1) {
      if (mend !== undefined && chance(0.5)) {
        await mend()
        mend = undefined
      } else if (mend === undefined && hour % 6 === 2) await commit()
      else if (mend === undefined && chance(0.04)) mend = await breakGit()
      // One agent runs through the last third, so that leaks become visible.
      if (hour < days * 16 && chance(0.02)) await restart()
      if (mend === undefined && chance(0.1)) await comeAndGo()
      if (chance(0.02)) await rotateKey()
      if (chance(0.02)) await fillDisk()
      await preview()
      await suspendSome()
      await editSome()
      if (hour % 24 === 9) await tidy()
      await until(began + (hour + 1) * HOUR)
      watch.hour(live(), control.requests(), running.agent.view().projects)
      control.clearRequests()
      if (hour % 24 === 23) options.onDay?.(Math.floor(hour / 24), stage.sandbox.requests, watch.problems)
    }
    if (away.size > 0) await comeAndGo()
    await mend?.()
    control.clearFaults()
    // Changes that were rejected or reverted too often wait for a person.
    await world.pass(24 * HOUR)
    await tidy()
    await world.pass(24 * HOUR)
    const found = primaries()
    for (const { id, state, reason = '', message = '' } of running.agent.view().projects)
      if (state !== 'Synced') watch.problems.push(`at the end: ${id} ${state} ${reason} ${message}`)
    for (const [index, size] of sizes.entries()) {
      const isInPlace = SWAPPED.every((name, at) => {
        const expected = swapped.has(index) ? SWAPPED[1 - at] : name
        return found.get(`${branchId(index)}-${name}`)?.id === `${computeId(index)}-${expected}`
      })
      if (found.get(branchId(index))?.max !== size || (isSwapper(index) && !isInPlace))
        watch.problems.push(`at the end: ${projectId(index)} is not as declared`)
    }
    for (const { id, projectId } of previewsIn())
      if (found.get(id)?.max !== PREVIEW_SIZE) watch.problems.push(`at the end: a preview of ${projectId} is too large`)
    return { watch, requests: stage.sandbox.requests, ...counts }
  } finally {
    disk.isFull = false
    await world.close()
  }
}

export const heapMiB = (): number => {
  globalThis.gc?.()
  return Math.round((process.memoryUsage().heapUsed / 2 ** 20) * 10) / 10
}

export const seeded = (seed = 20_260_101): (() => number) => {
  let last = seed
  return () => {
    last = (last * 48_271) % 2_147_483_647
    return last / 2_147_483_647
  }
}
