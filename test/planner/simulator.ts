/** A minimal model of the API as documented: applies a step to a state, or throws an error if it breaks a rule. */
import { attributesFromWire, type Observed, type ObservedCompute, type Step } from '../../src/model/index.ts'

export interface Simulated {
  readonly computes: ReadonlyMap<string, ObservedCompute>
  /** Ids of created computes, by the id of the step that created them. */
  readonly made: ReadonlyMap<string, string>
}

export const start = (observed: Observed): Simulated => ({
  computes: new Map(observed.projects.flatMap(({ computes }) => computes.map((one) => [one.id, one]))),
  made: new Map(),
})

export const perform = ({ computes, made }: Simulated, step: Step): Simulated => {
  const next = new Map(computes)
  const { method, path, body } = step.request
  if (method === 'POST') {
    const id = `ep-made-${made.size}`
    const endpoint = body?.endpoint ?? {}
    next.set(id, {
      id,
      branchId: endpoint.branch_id ?? '',
      type: endpoint.type ?? 'read_write',
      host: `${id}.host.test`,
      state: 'active',
      attributes: { size: { min: 0.25, max: 2 }, scaleToZero: 0, disabled: false, ...attributesFromWire(endpoint) },
    })
    return check({ computes: next, made: new Map([...made, [step.id, id]]) })
  }
  const id = path.split('/').at(-1) ?? ''
  const live = next.get(id)
  if (live === undefined) throw new Error(`${method} of ${id}, which is not there`)
  if (method === 'DELETE') {
    next.delete(id)
    return check({ computes: next, made })
  }
  const { branch_id: branchId, ...wire } = body?.endpoint ?? {}
  const size = {
    min: wire.autoscaling_limit_min_cu ?? live.attributes.size?.min ?? 0,
    max: wire.autoscaling_limit_max_cu ?? live.attributes.size?.max ?? 0,
  }
  next.set(id, {
    ...live,
    branchId: branchId ?? live.branchId,
    attributes: { ...live.attributes, ...attributesFromWire(wire), size },
  })
  return check({ computes: next, made })
}

/** One primary per branch, and sizes within their limits. */
const check = (world: Simulated): Simulated => {
  const primaries = new Set<string>()
  for (const { id, branchId, type, attributes } of world.computes.values()) {
    if (type === 'read_write') {
      if (primaries.has(branchId)) throw new Error(`two primaries on ${branchId}`)
      primaries.add(branchId)
    }
    const { size = { min: 1, max: 1 }, scaleToZero } = attributes
    if (size.min > size.max || (size.min !== size.max && (size.max > 16 || size.max - size.min > 8))) {
      throw new Error(`${id} has the size ${size.min} to ${size.max}`)
    }
    if (size.max > 16 && scaleToZero !== -1) throw new Error(`${id} is too large to scale to zero`)
  }
  return world
}

/** The state as the API would show it now. */
export const observe = (before: Observed, { computes }: Simulated): Observed => ({
  ...before,
  projects: before.projects.map((project) => ({ ...project, computes: [...computes.values()] })),
})

/** An order that the graph allows, chosen by `picks`. */
export const shuffled = (steps: readonly Step[], picks: readonly number[]): readonly Step[] => {
  const left = [...steps]
  const done = new Set<string>()
  const order: Step[] = []
  for (let turn = 0; left.length > 0; turn += 1) {
    const ready = left.filter(({ after }) => after.every((id) => done.has(id)))
    const step = ready[(picks[turn % picks.length] ?? 0) % ready.length]
    if (step === undefined) throw new Error('the graph has a circle')
    left.splice(left.indexOf(step), 1)
    done.add(step.id)
    order.push(step)
  }
  return order
}
