/** Creates a world and connects it with its timers, its faults and its compute backend. */
import { join } from 'node:path'
import { messageOf } from '../base/index.ts'
import type { SandboxClock } from './clock.ts'
import { type ComputeSpec, type Computes, defaultVersion } from './computes/computes.ts'
import { simulatedComputes } from './computes/simulated.ts'
import type { Faults } from './faults.ts'
import { startAutoscaling } from './world/autoscaling.ts'
import { enforceDeadlines, scaleToZero, startBackground } from './world/background.ts'
import { type SpecRules, specOf } from './world/compute-commands.ts'
import { gatekeeper } from './world/gatekeeper.ts'
import { beginOperation, DURATIONS, type Durations, WORK_DURATIONS } from './world/operations.ts'
import type { ComputeRecord, Store } from './world/records.ts'
import { World } from './world/world.ts'

export type ComputesChoice =
  | { readonly kind: 'simulated' }
  | {
      readonly kind: 'postgres'
      /** The folder that contains `postgres` and `initdb`. Default: the usual places are searched. */
      readonly bin?: string | undefined
      /** The port that all computes share. Default: 0, which means any free port. */
      readonly port?: number | undefined
      /** Whether to use another free port if `port` is already in use. Default: no. */
      readonly anyPort?: boolean | undefined
      /**
       * The size of the temporary disk is multiplied by this (docs/reference/sandbox.md), so a test can fill it. Default: 1.
       */
      readonly tempDiskScale?: number | undefined
    }

interface WorldParts {
  readonly clock: SandboxClock
  readonly log: (line: string) => void
  readonly faults: Faults
  readonly store: Store
  readonly stateDir?: string
  readonly durations?: Durations
  readonly durationSpread?: number
  readonly computes?: ComputesChoice
  readonly background?: boolean
  readonly random?: () => number
}

/** An empty world and its compute backend. */
export const openWorld = async (parts: WorldParts) => {
  const { clock, log, store, faults, stateDir } = parts
  const choice = parts.computes ?? { kind: 'simulated' }
  const rules: SpecRules = {
    tempDiskScale: choice.kind === 'postgres' ? (choice.tempDiskScale ?? 1) : 1,
    sizeOf: (compute) => world.usage.sizeOf(compute),
    pgVersion: () => defaultVersion(computes.versions),
  }
  const toSpec = (compute: ComputeRecord) => specOf(compute, world.tables, rules)
  const isIdle = (id = '') => world.tables.compute(id)?.state === 'idle'
  const world: World = new World({
    clock,
    log,
    store,
    keepsHistory: choice.kind === 'simulated',
    durations: { ...(choice.kind === 'simulated' ? DURATIONS : WORK_DURATIONS), ...parts.durations },
    random: parts.random,
    durationSpread: parts.durationSpread,
    faultOf: (operation) => {
      // The check of an idle compute starts it.
      const isStart = operation.action === 'check_availability' && isIdle(operation.computeId)
      return faults.ofOperation(operation, isStart ? 'start_compute' : undefined)
    },
    begin: (operation) => beginOperation(operation, world.tables, computes, toSpec),
  })
  const gate = gatekeeper(world, toSpec)
  const folder = stateDir === undefined ? undefined : join(stateDir, 'postgres')
  const computes: Computes =
    choice.kind === 'simulated'
      ? simulatedComputes(gate)
      : // Loaded on demand, because most sandboxes need no Postgres.
        await (await import('./computes/postgres/postgres-computes.ts')).postgresComputes({
          ...choice,
          gate,
          log,
          folder,
        })
  /** Call for each request about a project. */
  const noteRequest = startBackground(world, parts.background ?? true)
  scaleToZero(world, (id) => computes.activity?.(id))
  enforceDeadlines(world)
  const setLoad = startAutoscaling(world, computes, toSpec, log)
  followMoves(world, computes, toSpec, log)
  return { world, computes, setLoad, noteRequest }
}

/** When a compute is moved or deleted, or its project is deleted, updates the compute backend, because no operation does so. */
const followMoves = (
  world: World,
  computes: Computes,
  toSpec: (compute: ComputeRecord) => ComputeSpec,
  log: (line: string) => void,
): void => {
  const branches = new Map<string, string>()
  const work = (done: Promise<void> | undefined): void =>
    void done?.catch((error: unknown) => log(`computes  ${messageOf(error)}`))
  world.watch({
    project: ({ id, deletedAt }) => {
      if (deletedAt === undefined) return
      for (const computeId of world.tables.projects.get(id)?.computes.keys() ?? []) work(computes.stop(computeId))
    },
    compute: (compute) => {
      const before = branches.get(compute.id)
      branches.set(compute.id, compute.branchId)
      // The host of the compute must now lead to the data of another branch, so restart the compute.
      if (before !== undefined && before !== compute.branchId && compute.state === 'active') {
        work(computes.restart(toSpec(compute)))
      }
    },
    computeDeleted: (compute) => {
      branches.delete(compute.id)
      work(computes.forget(compute.id))
    },
  })
}
