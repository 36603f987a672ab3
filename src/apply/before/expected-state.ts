/** Holds the expected state of the live computes: the snapshot, with the changes that this run has made since. */
import type { Operation } from '../../api/index.ts'
import { type Clock, dateOf } from '../../base/index.ts'
import {
  attributesFromWire,
  type Observed,
  type ObservedBranch,
  type ObservedCompute,
  type ProjectSettings,
  type Step,
  updateDue,
} from '../../model/index.ts'
import { askedSize } from './compare.ts'

type Known =
  /** The compute as in the snapshot, with the changes that steps of this run have made. */
  | { readonly kind: 'live'; readonly compute: ObservedCompute }
  | { readonly kind: 'made' }
  | { readonly kind: 'deleted'; readonly compute: ObservedCompute }

export class ExpectedState {
  readonly #computes: Map<string, Known>
  readonly #branches: ReadonlyMap<string, ObservedBranch>
  readonly #settings: ReadonlyMap<string, ProjectSettings | undefined>
  readonly #ownOperations = new Set<string>()

  constructor({ projects }: Observed) {
    this.#computes = new Map(
      projects.flatMap(({ computes }) => computes.map((compute) => [compute.id, { kind: 'live', compute }] as const)),
    )
    this.#settings = new Map(projects.map(({ id, settings }) => [id, settings]))
    this.#branches = new Map(projects.flatMap(({ branches }) => branches.map((branch) => [branch.id, branch] as const)))
  }

  of(id: string): Known | undefined {
    return this.#computes.get(id)
  }

  /** The expected state of a compute before the step that is about to run. */
  before(id: string | undefined): ObservedCompute | undefined {
    const known = id === undefined ? undefined : this.#computes.get(id)
    return known?.kind === 'live' ? known.compute : undefined
  }

  branch(id: string): ObservedBranch | undefined {
    return this.#branches.get(id)
  }

  made(id: string): void {
    this.#computes.set(id, { kind: 'made' })
  }

  /** Records the values that a step requested, not those read later, so that changes by other clients are noticed. */
  done({ kind, compute: { id }, request }: Step): void {
    const before = this.before(id)
    if (before === undefined) return
    if (kind === 'delete') {
      this.#computes.set(before.id, { kind: 'deleted', compute: before })
      return
    }
    const endpoint = request.body?.endpoint ?? {}
    const asked = attributesFromWire(endpoint)
    const attributes = {
      ...before.attributes,
      ...asked,
      ...askedSize(endpoint, before.attributes),
      ...(asked.postgresSettings && {
        postgresSettings: { ...before.attributes.postgresSettings, ...asked.postgresSettings },
      }),
    }
    const compute = { ...before, attributes, branchId: endpoint.branch_id ?? before.branchId }
    this.#computes.set(before.id, { kind: 'live', compute })
  }

  started(operations: readonly Operation[]): void {
    for (const { id } of operations) this.#ownOperations.add(id)
  }

  /** When the next update of the project by the service is due, in milliseconds. */
  updateDue(project: string, clock: Clock): number | undefined {
    return updateDue(this.#settings.get(project), dateOf(clock))
  }

  isOwn({ id }: Operation): boolean {
    return this.#ownOperations.has(id)
  }
}
