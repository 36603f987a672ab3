/** Updates a manifest to match the live project. */
import { defined } from '../../base/index.ts'
import {
  applyRules,
  type Change,
  computeTitle,
  type Desired,
  type DesiredCompute,
  type DesiredDocument,
  type DesiredRule,
  isAbsence,
  keysOfPath,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  type Plan,
  ruleFor,
  type Source,
} from '../../model/index.ts'
import { parseManifests } from '../parse.ts'
import type { ManifestFile } from '../types.ts'
import { COMPUTE, rankOf } from './canonical.ts'
import { type ExportOptions, type InferredRule, isChosen, takeRules } from './export-project.ts'
import {
  bodyOf,
  computesOf,
  declaredOf,
  laid,
  refOf,
  shapeOf,
  textOf,
  type Written,
  windowOf,
  writtenAt,
} from './from-live.ts'
import { MergeBlocked, mergeIntoManifest } from './merge.ts'

export type AdoptOptions = Pick<ExportOptions, 'branches' | 'pin'> & {
  /** Whether new branches that probably come and go are declared by new rules, as in a new manifest. */
  readonly infersRules?: boolean
}

export interface Adopted {
  readonly text: string
  readonly added: number
  readonly updated: number
  readonly rules: readonly InferredRule[]
  readonly leftOut: readonly string[]
  /** Declared computes that do not exist, for example because they were deleted manually. They stay declared. */
  readonly notLive: readonly string[]
  /** Replicas that are yet to be renamed by `renamedFrom`. They stay declared too. */
  readonly toRename: readonly string[]
}

/** A difference that cannot be resolved by editing the text, and its position in the manifest. */
export interface AdoptConflict {
  readonly message: string
  readonly hint: string
  readonly source?: Source
}

/**
 * @param plan the plan for this file's documents of the project.
 * @param shared the files that `file` extends.
 * @returns the new text of the file, or the conflict.
 */
export const adoptInto = (
  file: ManifestFile,
  shared: readonly ManifestFile[],
  project: ObservedProject,
  plan: Plan,
  options: AdoptOptions,
): Adopted | { readonly conflicts: readonly AdoptConflict[] } => {
  const { desired } = parseManifests([file, ...shared])
  const adopting = new Adopting(project, plan, desired, options)
  if (adopting.conflicts.length > 0) return { conflicts: adopting.conflicts }
  try {
    // First add empty bodies, to see which values come from defaults and need not be written.
    const nothing = adopting.values(() => false)
    const bare = mergeIntoManifest(file.text, project.id, nothing)
    const given = givenBy(parseManifests([{ ...file, text: bare }, ...shared]).desired, project.id)
    const isNeeded: IsNeeded = (ref, replica, key, value) => !same(given(ref, replica, key), value)
    const text = mergeIntoManifest(file.text, project.id, adopting.values(isNeeded))
    const { added, updated, rules, leftOut, notLive, toRename } = adopting
    return { text, added, updated, rules, leftOut, notLive, toRename }
  } catch (error) {
    if (!(error instanceof MergeBlocked)) throw error
    const message = `\`${error.path.join('.')}\` cannot be written: ${error.message}.`
    const hint = 'Edit it manually, or simplify it and import again. Nothing was written.'
    return { conflicts: [{ message, hint, source: sourceOf(file, error.offset) }] }
  }
}

/**
 * Whether an attribute must be written in the body of a compute. `replica` is the replica's key, or '' for a primary.
 */
type IsNeeded = (ref: string, replica: string, key: string, value: unknown) => boolean

const sourceOf = ({ path, text }: ManifestFile, offset: number): Source => {
  const lines = text.slice(0, offset).split('\n')
  return { file: path, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, length: 1 }
}

const givenBy = (desired: Desired, project: string): ((ref: string, replica: string, path: string) => unknown) => {
  const computes = new Map<string, DesiredCompute>()
  for (const document of desired.documents) {
    if (document.project !== project) continue
    for (const { ref, primary, replicas } of document.branches) {
      if (primary !== undefined && !isAbsence(primary)) computes.set(`${ref}\0`, primary)
      for (const replica of replicas) computes.set(`${ref}\0${replica.key}`, replica)
    }
  }
  return (ref, replica, path) => {
    const compute = computes.get(`${ref}\0${replica}`)
    if (compute === undefined) return undefined
    // An undeclared `disabled` is not managed, so its default does not count as given.
    if (path === 'disabled') return compute.attributes.disabled
    return path === 'restartWindow' ? windowOf(compute.restartWindow ?? 'always') : writtenAt(path, compute.attributes)
  }
}

class Adopting {
  readonly conflicts: AdoptConflict[] = []
  readonly rules: readonly InferredRule[]
  readonly leftOut: string[] = []
  readonly notLive: string[] = []
  readonly toRename: string[] = []
  added = 0
  updated = 0
  readonly #project: ObservedProject
  /** Branches that the manifest lists, with the keys of their replicas. */
  readonly #listed: ReadonlyMap<string, ReadonlySet<string>>
  /** Values of `renamedFrom`, by branch and key of the replica. */
  readonly #renamedFrom: ReadonlyMap<string, string | undefined>
  /** New values for declared computes, by branch. */
  readonly #changed = new Map<string, Written>()
  /** New declarations by branch, with complete bodies as if there were no defaults. */
  readonly #new = new Map<string, Written>()

  constructor(project: ObservedProject, plan: Plan, desired: Desired, options: AdoptOptions) {
    const { pin } = options
    this.#project = project
    const documents = desired.documents.filter((one) => one.project === project.id)
    const listed = documents.flatMap(({ branches }) => branches)
    this.#listed = new Map(
      listed.map(({ ref, replicas }) => [ref, new Set(replicas.flatMap(({ key }) => key ?? []))] as const),
    )
    this.#renamedFrom = new Map(
      listed.flatMap(({ ref, replicas }) =>
        replicas.map(({ key, renamedFrom }) => [`${ref}\0${key}`, renamedFrom] as const),
      ),
    )
    const inferred = this.#inferRules(documents, options)
    this.rules = inferred.rules
    this.added += inferred.rules.reduce((sum, { branches }) => sum + branches, 0)
    for (const branch of project.branches.filter(
      ({ id, name }) => isChosen(name, options) && !inferred.covers.has(id),
    )) {
      const changes = plan.changes.filter((change) => change.branch.id === branch.id)
      const loose = new Set([
        ...plan.unmanaged.filter((one) => one.branch.id === branch.id).map(({ compute }) => compute.id),
        ...changes.filter(isPrune).map(({ compute }) => compute.id),
      ])
      const differing = changes.filter((change) => !isPrune(change))
      for (const change of differing) {
        if (change.kind === 'create') this.notLive.push(titleOf(change))
        else if (change.kind !== 'update') this.#conflict(OBSTACLES[change.kind], change, change.source)
      }
      const updates = differing.filter(({ kind }) => kind === 'update')
      if (loose.size === 0 && updates.length === 0) continue
      const ref = [branch.name, branch.id].find((one) => this.#listed.has(one))
      if (ref === undefined) {
        // Listing the branch takes it out of its rule, so copy the rule's declarations.
        this.#declare(branch, refOf(branch), () => true, pin, ruleFor(documents, branch))
        continue
      }
      this.#declare(branch, ref, ({ id }) => loose.has(id), pin)
      for (const update of updates) this.#update(ref, update)
    }
  }

  values(isNeeded: IsNeeded): Written {
    const branches: Written = new Map()
    for (const [ref, body] of this.#new) branches.set(ref, neededOf(ref, body, isNeeded))
    for (const [ref, body] of this.#changed) {
      branches.set(ref, laid((branches.get(ref) as Written | undefined) ?? new Map(), body))
    }
    return new Map<string, unknown>([
      ...(branches.size === 0 ? [] : [['branches', branches] as const]),
      ...(this.rules.length === 0 ? [] : [['rules', this.rules.map(({ body }) => body)] as const]),
    ])
  }

  #inferRules(documents: readonly DesiredDocument[], options: AdoptOptions) {
    const isListed = ({ id, name }: ObservedBranch): boolean => this.#listed.has(name) || this.#listed.has(id)
    const listed = this.#project.branches.filter(isListed)
    const others = this.#project.branches.filter((branch) => !isListed(branch))
    const ruled = new Set(applyRules(documents, others).flatMap(({ own }) => own))
    const open = others.filter((branch) => !ruled.has(branch))
    const shapes = open
      .filter(({ name }) => options.infersRules === true && isChosen(name, options))
      .map((branch) => shapeOf(branch, this.#project.computes, { pin: options.pin, taken: new Set() }))
      .filter((shape) => computesOf(shape).length > 0)
    const taken = takeRules(shapes, open, options, listed)
    const covered = shapes.filter((shape) => !taken.listed.includes(shape))
    this.leftOut.push(...covered.flatMap(({ leftOut }) => leftOut))
    return { rules: taken.rules, covers: new Set(covered.map(({ branch }) => branch.id)) }
  }

  #declare(
    branch: ObservedBranch,
    ref: string,
    isWanted: (compute: ObservedCompute) => boolean,
    pin: boolean,
    rule?: DesiredRule,
  ): void {
    const wanted = this.#project.computes.filter((compute) => compute.branchId === branch.id && isWanted(compute))
    if (wanted.length === 0) return
    const shape = shapeOf(branch, wanted, { pin, taken: this.#listed.get(ref) ?? new Set() })
    this.leftOut.push(...shape.leftOut)
    const count = computesOf(shape).length
    this.added += count
    const body = bodyOf(shape)
    if (count > 0) this.#new.set(ref, rule === undefined ? body : under(body, rule))
  }

  #update(ref: string, change: Change): void {
    const live = this.#project.computes.find(({ id }) => id === change.compute.id)
    const isReplica = change.compute.type === 'read_only'
    // The plan uses the key of a replica as its name.
    const key = change.compute.name ?? ''
    const place = isReplica ? ['replicas', key] : ['primary']
    for (const { path, source } of change.attributes) {
      if (isReplica && path === 'name' && this.#renamedFrom.get(`${ref}\0${key}`) === live?.attributes.name) {
        this.toRename.push(titleOf(change))
        continue
      }
      const value = live === undefined ? undefined : writtenAt(path, live.attributes)
      if (value === undefined || (isReplica && path === 'name')) {
        this.#conflict(`has a live value of \`${path}\` that a manifest cannot express`, change, source)
        continue
      }
      const keys = [...place, ...keysOfPath(path)]
      const body = keys.reduceRight<unknown>((inner, key) => new Map([[key, inner]]), value) as Written
      this.#changed.set(ref, laid(this.#changed.get(ref) ?? new Map(), body))
      this.updated += 1
    }
  }

  #conflict(what: string, change: Change, source: Source | undefined): void {
    const hint = 'Remove this declaration from the manifest, then import again. Nothing was written.'
    this.conflicts.push({ message: `The ${titleOf(change)} ${what}.`, hint, ...defined({ source }) })
  }
}

const OBSTACLES = {
  move: 'is pinned here but is on another branch',
  replace: 'is pinned here but has a different type',
  delete: 'is declared absent but exists',
} as const

const titleOf = ({ branch, compute }: Change): string => `${computeTitle(compute)} on ${branch.name}`

const isPrune = ({ reasons }: Change): boolean => reasons[0] === 'PRUNED'

/** Adds a rule's declarations. Live values take precedence. */
const under = (body: Written, { protect, primary, replicas }: DesiredRule): Written => {
  const result: Written = new Map(protect ? [['protect', true]] : [])
  for (const [key, value] of body) {
    if (key === 'primary') {
      const declared = primary === undefined || isAbsence(primary) ? new Map() : bodyFrom(primary)
      result.set(key, inOrder(laid(declared, value as Written)))
    } else {
      const declared = new Map(replicas.map((replica) => [replica.key, bodyFrom(replica)]))
      const own = [...(value as Written)] as [string, Written][]
      result.set(key, new Map(own.map(([name, live]) => [name, inOrder(laid(declared.get(name) ?? new Map(), live))])))
    }
  }
  return result
}

const inOrder = (compute: Written): Written =>
  new Map([...compute].sort(([a], [b]) => rankOf(COMPUTE, a) - rankOf(COMPUTE, b)))

const bodyFrom = ({ attributes, restartWindow }: DesiredCompute): Written =>
  new Map([
    ...declaredOf(attributes),
    ...(restartWindow === undefined ? [] : [['restartWindow', windowOf(restartWindow)] as const]),
  ])

/** Omits values that come from defaults. Always keeps the compute's name and pin. */
const neededOf = (ref: string, body: Written, isNeeded: IsNeeded): Written => {
  const compute = (replica: string, own: Written): Written =>
    new Map([...own].filter(([key, value]) => key === 'id' || key === 'name' || isNeeded(ref, replica, key, value)))
  return new Map(
    [...body].map(([key, value]) => {
      if (key === 'protect') return [key, value]
      return key === 'primary'
        ? [key, compute('', value as Written)]
        : [key, new Map([...(value as Written)].map(([name, own]) => [name, compute(name, own as Written)]))]
    }),
  )
}

const same = (a: unknown, b: unknown): boolean => textOf(a) === textOf(b)
