/** The world with all that moves in it: timers, faults, and the compute backend. */
import { join } from 'node:path'
import type { SandboxClock } from './clock/clock.ts'
import { type ComputeSpec, type Computes, usualVersion } from './computes/computes.ts'
import { simulatedComputes } from './computes/simulated.ts'
import type { Faults } from './faults/faults.ts'
import { Background } from './world/background.ts'
import { beginOperation } from './world/begin.ts'
import { type SpecRules, specOf } from './world/compute-spec.ts'
import { enforceDeadlines } from './world/deadlines.ts'
import { DURATIONS, type Durations, WORK_DURATIONS } from './world/durations.ts'
import { Gatekeeper } from './world/gatekeeper.ts'
import type { ComputeRecord } from './world/records.ts'
import { ScaleToZero } from './world/scale-to-zero.ts'
import type { Store } from './world/store.ts'
import { World } from './world/world.ts'

export type ComputesChoice =
  | { readonly kind: 'simulated' }
  | {
      readonly kind: 'postgres'
      /** Folder of `postgres` and `initdb`; without it they are looked for. */
      readonly bin?: string | undefined
      /** Port that all computes share. Default 0: a free one. */
      readonly port?: number | undefined
      /** Whether another free port will do where `port` is taken. Default: no. */
      readonly anyPort?: boolean | undefined
      /** Shrinks the disk for temporary files (docs/control-api.md), so that it can be filled. Default 1. */
      readonly tempDiskScale?: number | undefined
    }

export interface WorldParts {
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

/** A world without anything in it yet, and its compute backend. */
export const openWorld = async (
  parts: WorldParts,
): Promise<{ readonly world: World; readonly computes: Computes; readonly background: Background }> => {
  const choice = parts.computes ?? { kind: 'simulated' }
  const rules: SpecRules = {
    tempDiskScale: choice.kind === 'postgres' ? (choice.tempDiskScale ?? 1) : 1,
    pgVersion: () => usualVersion(computes.versions),
  }
  const toSpec = (compute: ComputeRecord) => specOf(compute, world.tables, rules)
  const world: World = new World({
    clock: parts.clock,
    log: parts.log,
    store: parts.store,
    keepsHistory: choice.kind === 'simulated',
    durations: { ...(choice.kind === 'simulated' ? DURATIONS : WORK_DURATIONS), ...parts.durations },
    random: parts.random,
    durationSpread: parts.durationSpread,
    faultOf: (operation) => parts.faults.ofOperation(operation),
    begin: (operation) => beginOperation(operation, world.tables, computes, toSpec),
  })
  const gate = new Gatekeeper(world, toSpec)
  const computes: Computes =
    choice.kind === 'simulated' ? simulatedComputes(gate) : await realComputes(gate, choice, parts)
  const background = new Background(world, parts.background ?? true)
  new ScaleToZero(world, (id) => computes.activity(id))
  enforceDeadlines(world)
  followMoves(world, computes, toSpec, parts.log)
  return { world, computes, background }
}

/** What happens to computes without an operation: a move, and the end of one that is idle. */
const followMoves = (
  world: World,
  computes: Computes,
  toSpec: (compute: ComputeRecord) => ComputeSpec,
  log: (line: string) => void,
): void => {
  const branches = new Map<string, string>()
  const work = (done: Promise<void> | undefined): void =>
    void done?.catch((error: unknown) => log(`computes  ${error instanceof Error ? error.message : String(error)}`))
  world.watch({
    compute: (compute) => {
      const before = branches.get(compute.id)
      branches.set(compute.id, compute.branchId)
      // A move starts no operation (docs/control-api.md), and yet other data is behind the same host from now on.
      if (before !== undefined && before !== compute.branchId && compute.state === 'active') {
        work(computes.restart(toSpec(compute)))
      }
    },
    computeDeleted: (compute) => {
      branches.delete(compute.id)
      // One that is not idle is suspended by an operation, which follows.
      if (compute.state === 'idle') work(computes.forget(compute.id))
    },
  })
}

/** Loaded only if it is asked for: most sandboxes need no Postgres. */
const realComputes = async (
  gate: Gatekeeper,
  choice: Extract<ComputesChoice, { readonly kind: 'postgres' }>,
  { log, stateDir }: WorldParts,
): Promise<Computes> => {
  const { postgresComputes } = await import('./computes/postgres/postgres-computes.ts')
  return postgresComputes({
    gate,
    log,
    bin: choice.bin,
    port: choice.port ?? 0,
    anyPort: choice.anyPort ?? false,
    folder: stateDir === undefined ? undefined : join(stateDir, 'postgres'),
  })
}
