/** What of a live project a person's manifest does not say yet, or says otherwise: put in. */
import {
  type Change,
  type Desired,
  type DesiredCompute,
  type DesiredDocument,
  type DesiredRule,
  globMatches,
  isAbsence,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
  type Plan,
  type Source,
} from '../../model/index.ts'
import { parseManifests } from '../parse.ts'
import type { ManifestFile } from '../types.ts'
import { declaredOf, laid, type Written, windowOf, writtenAt } from './attributes.ts'
import { COMPUTE, rankOf } from './canonical.ts'
import { bodyOf, type ExportOptions, isChosen, plain, refOf, shapeOf } from './export-project.ts'
import { MergeBlocked, mergeIntoManifest } from './merge.ts'

export type AdoptOptions = Pick<ExportOptions, 'branches' | 'pin'>

export interface Adopted {
  readonly text: string
  readonly added: number
  readonly updated: number
  readonly leftOut: readonly string[]
  /** Declared computes that are not live, deleted by hand for example: they stay declared. */
  readonly notLive: readonly string[]
  /** Replicas that `renamedFrom` renames: that stays declared too. */
  readonly toRename: readonly string[]
}

/** A difference that text alone cannot settle: what it is, and where the manifest says it. */
export interface AdoptConflict {
  readonly message: string
  readonly hint: string
  readonly source?: Source
}

/**
 * @param plan of this file's documents of the project, against what is live.
 * @param shared what the file extends.
 * @returns the file's new text, or the obstacle.
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
    // First with empty bodies: what the defaults give then need not be said again.
    const bare = mergeIntoManifest(
      file.text,
      project.id,
      adopting.values(() => false),
    )
    const given = givenBy(parseManifests([{ ...file, text: bare }, ...shared]).desired, project.id)
    const isNews: IsNews = (ref, replica, key, value) => !same(given(ref, replica, key), value)
    const text = mergeIntoManifest(file.text, project.id, adopting.values(isNews))
    return {
      text,
      added: adopting.added,
      updated: adopting.updated,
      leftOut: adopting.leftOut,
      notLive: adopting.notLive,
      toRename: adopting.toRename,
    }
  } catch (error) {
    if (!(error instanceof MergeBlocked)) throw error
    const message = `\`${error.path.join('.')}\` cannot be written: ${error.message}.`
    const hint = 'Write it by hand, or make it plain and import again. Nothing was written.'
    return { conflicts: [{ message, hint, source: sourceOf(file, error.offset) }] }
  }
}

/** Whether a compute's own body must say an attribute: by reference of its branch, and the replica's key or ''. */
type IsNews = (ref: string, replica: string, key: string, value: unknown) => boolean

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
    // A live compute is never without an answer; a declaration may be.
    if (path === 'disabled') return compute.attributes.disabled
    return path === 'restartWindow' ? windowOf(compute.restartWindow ?? 'always') : writtenAt(path, compute.attributes)
  }
}

class Adopting {
  readonly conflicts: AdoptConflict[] = []
  readonly leftOut: string[] = []
  readonly notLive: string[] = []
  readonly toRename: string[] = []
  added = 0
  updated = 0
  readonly #project: ObservedProject
  /** The branches that the manifest lists, by reference, with their replicas' keys. */
  readonly #listed: ReadonlyMap<string, ReadonlySet<string>>
  /** What `renamedFrom` says, by reference of the branch and the replica's key. */
  readonly #renamedFrom: ReadonlyMap<string, string>
  /** Values for declared computes, by reference of the branch. */
  readonly #changed = new Map<string, Written>()
  /** Declarations that are new, by reference of the branch: bodies as they would be without defaults. */
  readonly #new = new Map<string, Written>()

  constructor(project: ObservedProject, plan: Plan, desired: Desired, options: AdoptOptions) {
    const { pin } = options
    this.#project = project
    const documents = desired.documents.filter((one) => one.project === project.id)
    this.#listed = new Map(
      documents.flatMap(({ branches: listed }) =>
        listed.map(({ ref, replicas }) => [ref, new Set(replicas.flatMap(({ key }) => key ?? []))] as const),
      ),
    )
    this.#renamedFrom = new Map(
      documents.flatMap(({ branches: listed }) =>
        listed.flatMap(({ ref, replicas }) =>
          replicas.flatMap(({ key = '', renamedFrom }) =>
            renamedFrom === undefined ? [] : [[`${ref}\0${key}`, renamedFrom] as const],
          ),
        ),
      ),
    )
    for (const branch of project.branches.filter(({ name }) => isChosen(name, options))) {
      const changes = plan.changes.filter((change) => change.branch.id === branch.id)
      const loose = new Set([
        ...plan.unmanaged.filter((one) => one.branch.id === branch.id).map(({ compute }) => compute.id),
        ...changes.filter(isPrune).map(({ compute }) => compute.id),
      ])
      const differing = changes.filter((change) => !isPrune(change))
      for (const change of differing) {
        if (change.kind === 'create') this.notLive.push(titleOf(change))
        else if (change.kind !== 'update') this.#refuse(change)
      }
      const updates = differing.filter(({ kind }) => kind === 'update')
      if (loose.size === 0 && updates.length === 0) continue
      const ref = [branch.name, branch.id].find((one) => this.#listed.has(one))
      if (ref === undefined) {
        // Listing the branch takes all of it out of the hands of a rule: what that said comes along.
        this.#declare(branch, refOf(branch), () => true, pin, ruleFor(documents, branch.name))
        continue
      }
      this.#declare(branch, ref, ({ id }) => loose.has(id), pin)
      for (const update of updates) this.#update(ref, update)
    }
  }

  values(isNews: IsNews): Written {
    const branches: Written = new Map()
    for (const [ref, body] of this.#new) branches.set(ref, newsOf(ref, body, isNews))
    for (const [ref, body] of this.#changed) {
      branches.set(ref, laid((branches.get(ref) as Written | undefined) ?? new Map(), body))
    }
    return branches.size === 0 ? new Map() : new Map([['branches', branches]])
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
    const shape = shapeOf(branch, wanted, { pin, taken: this.#listed.get(ref) ?? new Set() }, this.leftOut)
    this.added += shape.replicas.size + (shape.primary === undefined ? 0 : 1)
    if (shape.primary !== undefined || shape.replicas.size > 0) {
      const body = bodyOf(shape)
      this.#new.set(ref, rule === undefined ? body : under(body, rule))
    }
  }

  #update(ref: string, change: Change): void {
    const live = this.#project.computes.find(({ id }) => id === change.compute.id)
    const isReplica = change.compute.type === 'read_only'
    // A replica's key is its name; the plan names it by the key.
    const key = change.compute.name ?? ''
    const place = isReplica ? ['replicas', key] : ['primary']
    for (const { path, source } of change.attributes) {
      if (isReplica && path === 'name' && this.#renamedFrom.get(`${ref}\0${key}`) === live?.attributes.name) {
        this.toRename.push(titleOf(change))
        continue
      }
      const value = live === undefined ? undefined : writtenAt(path, live.attributes)
      if (value === undefined || (isReplica && path === 'name')) {
        this.#conflict(`\`${path}\` differs, and what is live cannot be written in its place`, change, source)
        continue
      }
      const setting = /^(postgres)\.(settings)\.(.+)$/s.exec(path)?.slice(1)
      const keys = [...place, ...(setting ?? path.split('.'))]
      const body = keys.reduceRight<unknown>((inner, key) => new Map([[key, inner]]), value) as Written
      this.#changed.set(ref, laid(this.#changed.get(ref) ?? new Map(), body))
      this.updated += 1
    }
  }

  #refuse(change: Change): void {
    const what = {
      create: '',
      move: 'it is pinned here and lives on another branch',
      replace: 'it is pinned and has the other type',
      delete: 'it is declared absent and is live',
      update: '',
    }[change.kind]
    this.#conflict(what, change, change.source)
  }

  #conflict(what: string, change: Change, source: Source | undefined): void {
    const hint = 'Apply it, or take it out of the manifest, and import again. Nothing was written.'
    this.conflicts.push({
      message: `${titleOf(change)}: ${what}.`,
      hint,
      ...(source === undefined ? {} : { source }),
    })
  }
}

const titleOf = ({ branch, compute }: Change): string =>
  `${branch.name}, ${compute.type === 'read_write' ? 'the primary' : `replica ${compute.name ?? compute.id ?? ''}`}`

const isPrune = ({ reasons }: Change): boolean => reasons[0] === 'PRUNED'

const ruleFor = (documents: readonly DesiredDocument[], branch: string): DesiredRule | undefined =>
  documents
    .flatMap(({ rules }) => rules)
    .find(
      ({ match, except }) => globMatches(match, branch) && !except.some((exception) => globMatches(exception, branch)),
    )

/** What a rule declared, under what is live. */
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

/** Only what defaults do not give; who the compute is stays in any case. */
const newsOf = (ref: string, body: Written, isNews: IsNews): Written => {
  const compute = (replica: string, own: Written): Written =>
    new Map([...own].filter(([key, value]) => key === 'id' || key === 'name' || isNews(ref, replica, key, value)))
  return new Map(
    [...body].map(([key, value]) => {
      if (key === 'protect') return [key, value]
      return key === 'primary'
        ? [key, compute('', value as Written)]
        : [key, new Map([...(value as Written)].map(([name, own]) => [name, compute(name, own as Written)]))]
    }),
  )
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(plain(a)) === JSON.stringify(plain(b))
