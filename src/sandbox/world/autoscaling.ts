/**
 * Autoscaling (docs/reference/sandbox.md): the size of an active compute follows its load within its limits. The record, the
 * operations and the connections of the compute are not affected.
 */
import { ramGb, SIZE_TABLE } from '../../model/index.ts'
import type { ComputeSpec, Computes } from '../computes/computes.ts'
import { Timers } from './background.ts'
import type { ComputeRecord } from './records.ts'
import { ApiError } from './requests.ts'
import type { World } from './world.ts'

/** How often the load is measured, by the sandbox's clock and by the system clock, and over which time it is averaged. */
const MEASURED_EVERY_MS = 5_000
const MEASURED_AT_MOST_MS = 100
const AVERAGED_MS = 60_000
/** How long a smaller size must be sufficient before the compute becomes smaller. */
const CALM_MS = 300_000
/** The part of a size that the load may use. */
const USABLE = 0.9

/** An active compute that autoscales. */
interface Scaled {
  /** If this changes, the compute has restarted, and begins with its minimum. */
  readonly start: string
  samples: readonly { readonly time: number; readonly load: number }[]
  calmSince?: number | undefined
}

/** Sets the load of a compute in CU, or measures it again. @throws {ApiError} 404. */
export type SetLoad = (computeId: string, load: number | null) => void

export const startAutoscaling = (
  world: World,
  computes: Computes,
  specOf: (compute: ComputeRecord) => ComputeSpec,
  log: (line: string) => void,
): SetLoad => {
  const timers = new Timers(world)
  const scaled = new Map<string, Scaled>()
  /** Loads that the user has set, by the id of the compute. */
  const setLoads = new Map<string, number>()

  const watch = (compute: ComputeRecord): void => {
    const { id, state, min, max, startedAt } = compute
    const start = [startedAt, min, max].join()
    if (state !== 'active' || min === max) forget(id)
    else if (scaled.get(id)?.start !== start) {
      scaled.set(id, { start, samples: [] })
      resize(compute, min, 0)
      look(id)
    }
  }

  const forget = (id: string): void => {
    scaled.delete(id)
    timers.set(id, undefined, () => undefined)
  }

  /** Uses the load that the user has set. Otherwise measures it, or assumes none if the compute is simulated. */
  const look = (id: string): void => {
    const own = scaled.get(id)
    if (own === undefined) return
    const known = setLoads.get(id) ?? (computes.kind === 'simulated' ? 0 : undefined)
    if (known === undefined) {
      // A compute that does not respond is stopping or busy, so measure it again later.
      void computes.activity?.(id)?.then(
        ({ load }) => note(id, own, load),
        () => note(id, own),
      )
      return
    }
    follow(id, own, known)
    timers.set(id, own.calmSince === undefined ? undefined : own.calmSince + CALM_MS, () => look(id))
  }

  const note = (id: string, own: Scaled, load?: number): void => {
    if (scaled.get(id) !== own || setLoads.has(id)) return
    const time = world.clock.now()
    const every = Math.max(MEASURED_EVERY_MS, MEASURED_AT_MOST_MS * world.clock.scale)
    if (load !== undefined) {
      own.samples = [...own.samples.filter((sample) => sample.time > time - AVERAGED_MS), { time, load }]
      const sum = own.samples.reduce((total, sample) => total + sample.load, 0)
      follow(id, own, sum * Math.min(1, every / AVERAGED_MS))
    }
    timers.set(id, time + every, () => look(id))
  }

  const follow = (id: string, own: Scaled, load: number): void => {
    const compute = world.tables.compute(id)
    if (compute === undefined) return
    const now = world.clock.now()
    const [size, target] = [world.usage.sizeOf(compute), sizeFor(load, compute)]
    own.calmSince = target < size ? (own.calmSince ?? now) : undefined
    if (own.calmSince !== undefined && now - own.calmSince < CALM_MS) return
    own.calmSince = undefined
    resize(compute, target, load)
  }

  const resize = (compute: ComputeRecord, cu: number, load: number): void => {
    if (world.usage.sizeOf(compute) === cu) return
    world.usage.note(compute, cu)
    const line = `size  ${compute.id}  ${compute.projectId}  ${cu} CU  ${ramGb(cu)} GB RAM  load ${load.toFixed(2)}`
    log(line)
    void computes.resize?.(specOf(compute))?.catch(() => log(`${line}  the cache size could not be changed`))
  }

  world.watch({
    compute: watch,
    computeDeleted: ({ id }) => {
      forget(id)
      setLoads.delete(id)
    },
  })
  return (id, load) => {
    if (world.tables.compute(id) === undefined) throw new ApiError(404, 'endpoint not found')
    if (load === null) setLoads.delete(id)
    else setLoads.set(id, load)
    look(id)
  }
}

/** The smallest size that leaves a part of it unused, or the maximum. */
const sizeFor = (load: number, { min, max }: Pick<ComputeRecord, 'min' | 'max'>): number =>
  SIZE_TABLE.steps.find(({ cu }) => cu >= min && cu <= max && load <= USABLE * cu)?.cu ?? max
