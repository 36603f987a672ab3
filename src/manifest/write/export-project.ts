/** Writes a manifest for a live project, as a person would write it. */
import { Document } from 'yaml'
import { defined, groupBy, plainText } from '../../base/index.ts'
import {
  byBranch,
  globMatches,
  type ObservedBranch,
  type ObservedCompute,
  type ObservedProject,
} from '../../model/index.ts'
import { leftOutOf, type Written, writtenOf } from './attributes.ts'
import { compactBelow, toText } from './style.ts'

export interface ExportOptions {
  /** Globs for branch names. Default: all branches. */
  readonly branches?: readonly string[]
  /** Pins every compute by its id. */
  readonly pin: boolean
  /** Path of the schema, relative to the file. */
  readonly schema: string
}

export interface Exported {
  readonly text: string
  /** What manifests cannot express, one sentence each. */
  readonly leftOut: readonly string[]
  /** What the text contains beyond live values, and why: one sentence each. */
  readonly inferred: readonly string[]
  /** Number of declared computes. */
  readonly computes: number
}

/** A branch's computes in a manifest's format. */
export interface BranchShape {
  readonly branch: ObservedBranch
  readonly primary?: Written
  readonly replicas: ReadonlyMap<string, Written>
}

/** A rule is suggested for at least this many similar branches. */
const ALIKE = 3

export const isChosen = (branch: string, { branches }: Pick<ExportOptions, 'branches'>): boolean =>
  branches === undefined || branches.some((pattern) => globMatches(pattern, branch))

export const exportProject = (project: ObservedProject, options: ExportOptions): Exported => {
  const leftOut: string[] = []
  const chosen = project.branches.filter(({ name }) => isChosen(name, options)).toSorted(byBranch)
  const shapes = chosen.map((branch) =>
    shapeOf(branch, project.computes, { pin: options.pin, taken: new Set() }, leftOut),
  )
  const declared = shapes.filter(({ primary, replicas }) => primary !== undefined || replicas.size > 0)
  const { rules, listed } = suggestRules(declared, project)
  const { defaults, reasons } = takeDefaults(listed)
  const bare = shapes.length - declared.length
  if (bare > 0) leftOut.push(`${bare} ${bare === 1 ? 'branch has' : 'branches have'} no compute to declare`)

  const root: Written = new Map(Object.entries({ version: 1, project: project.id }))
  if (defaults.size > 0) root.set('defaults', defaults)
  if (listed.length > 0) root.set('branches', new Map(listed.map((shape) => [refOf(shape.branch), bodyOf(shape)])))
  return {
    text: render(root, rules, options.schema, leftOut),
    leftOut,
    inferred: [...reasons, ...rules.map(({ reason }) => reason)],
    computes: count(listed),
  }
}

const count = (shapes: readonly BranchShape[]): number =>
  shapes.reduce((sum, { primary, replicas }) => sum + replicas.size + (primary === undefined ? 0 : 1), 0)

/** How a manifest refers to a branch: by name, or by id if the name looks like an id. */
export const refOf = ({ id, name }: ObservedBranch): string => (name.startsWith('br-') ? id : name)

export const bodyOf = ({ primary, replicas }: BranchShape): Written => {
  const body: Written = new Map()
  if (primary !== undefined) body.set('primary', primary)
  if (replicas.size > 0) body.set('replicas', new Map(replicas))
  return body
}

/**
 * Adds to `leftOut` what manifests cannot express.
 * @param how.taken replica keys already used for other computes.
 */
export const shapeOf = (
  branch: ObservedBranch,
  computes: readonly ObservedCompute[],
  { pin, taken }: { readonly pin: boolean; readonly taken: ReadonlySet<string> },
  leftOut: string[],
): BranchShape => {
  const own = computes.filter(({ branchId }) => branchId === branch.id)
  const replicas = new Map<string, Written>()
  let primary: Written | undefined
  for (const compute of own) {
    const { name } = compute.attributes
    const isNamesake = own.some(
      (other) => other !== compute && other.type === compute.type && other.attributes.name === name,
    )
    const title = `${compute.type === 'read_write' ? 'primary' : 'replica'} ${compute.id} on ${branch.name}`
    const unsaid = [...leftOutOf(compute)]
    const id = pin || isNamesake ? [['id', compute.id] as const] : []
    const written: Written = new Map([...id, ...writtenOf(compute.attributes)])
    if (compute.type === 'read_write') {
      // Names must be unique within a branch. Replicas need their names as keys, so the primary loses its name.
      const isTaken =
        taken.has(name ?? '') || own.some((other) => other.type === 'read_only' && other.attributes.name === name)
      if (name !== undefined && isTaken) unsaid.push(`its name ${name}, which a replica there also has`)
      primary =
        name === undefined || isTaken
          ? written
          : new Map<string, unknown>([...id, ['name', name], ...writtenOf(compute.attributes)])
    } else if (name === undefined) {
      leftOut.push(`${title} has no name, but a declared replica needs one`)
      continue
    } else if (replicas.has(name) || taken.has(name)) {
      leftOut.push(`${title} has the same name as another replica there: ${name}`)
      continue
    } else replicas.set(name, written)
    if (unsaid.length > 0) leftOut.push(`${title}: ${unsaid.join(', ')}`)
  }
  return { branch, replicas, ...defined({ primary }) }
}

/** Moves the most common values into `defaults`, if all computes declare the attribute. */
const takeDefaults = (
  shapes: readonly BranchShape[],
): { readonly defaults: Written; readonly reasons: readonly string[] } => {
  const all = shapes.flatMap(({ primary, replicas }) => [
    ...(primary === undefined ? [] : [primary]),
    ...replicas.values(),
  ])
  const defaults: Written = new Map()
  const reasons: string[] = []
  for (const key of ['size', 'scaleToZero']) {
    // A compute that is too large to scale to zero may have no `scaleToZero`, but a default would apply to it too.
    if (all.length < 2 || all.some((written) => !written.has(key))) continue
    const most = mostAlike(all, key)
    if (most.length < 2 || (key === 'size' && most.length <= all.length / 2)) continue
    const value = most[0]?.get(key)
    reasons.push(`defaults: \`${key}: ${inline(value)}\`, which ${most.length} of ${all.length} computes have`)
    defaults.set(key, value)
    for (const written of most) written.delete(key)
  }
  return { defaults, reasons }
}

const mostAlike = (all: readonly Written[], key: string): readonly Written[] => {
  const groups = groupBy(all, (written) => JSON.stringify(plain(written.get(key))))
  const [most = []] = [...groups.values()].sort((a, b) => b.length - a.length)
  return most
}

const inline = (value: unknown): string =>
  value instanceof Map ? `{ ${[...value].map(([key, one]) => `${key}: ${String(one)}`).join(', ')} }` : String(value)

interface SuggestedRule {
  readonly rule: Written
  readonly reason: string
}

/**
 * Similar branches with the same prefix probably come and go, so a rule fits better than a list. The user has to
 * decide, so the rule is a comment. If no branches remain outside of the rules, all branches are listed instead.
 */
const suggestRules = (
  shapes: readonly BranchShape[],
  project: ObservedProject,
): { readonly rules: readonly SuggestedRule[]; readonly listed: readonly BranchShape[] } => {
  const isPlain = ({ primary, replicas }: BranchShape): boolean =>
    replicas.size === 0 && primary?.has('id') === false && !primary.has('name')
  const groups = groupBy(shapes.filter(isPlain), ({ branch }) => /^([\w.-]+\/)+(?=[^/]+$)/.exec(branch.name)?.[0] ?? '')
  const rules: SuggestedRule[] = []
  const covered = new Set<BranchShape>()
  for (const [prefix, alike] of groups) {
    // Branches without a prefix get no rule.
    if (prefix === '') continue
    const match = `${prefix}*`
    const caught = project.branches.filter(({ name }) => globMatches(match, name)).length
    const bodies = new Set(alike.map(({ primary }) => JSON.stringify(plain(primary))))
    if (alike.length < ALIKE || bodies.size > 1 || caught !== alike.length) continue
    rules.push({
      rule: new Map(Object.entries({ match, primary: alike[0]?.primary })),
      reason: `rule \`${match}\`, as a comment: its ${alike.length} branches are alike. Uncomment it to manage them and future ones`,
    })
    for (const shape of alike) covered.add(shape)
  }
  const listed = shapes.filter((shape) => !covered.has(shape))
  return listed.length === 0 ? { rules: [], listed: shapes } : { rules, listed }
}

/** Converts maps to objects, for comparison. */
export const plain = (value: unknown): unknown =>
  value instanceof Map ? [...value].map(([key, one]) => [key, plain(one)]) : value

const render = (root: Written, rules: readonly SuggestedRule[], schema: string, leftOut: readonly string[]): string => {
  const document = new Document(root)
  compactBelow(document, 2)
  document.commentBefore = ` yaml-language-server: $schema=${schema}`
  const left = leftOut.map((line) => `#   ${plainText(line)}\n`)
  const tail = left.length === 0 ? '' : `\n# Left out, so not managed:\n${left.join('')}`
  return toText(document) + ruleComments(rules) + tail
}

const ruleComments = (rules: readonly SuggestedRule[]): string => {
  if (rules.length === 0) return ''
  const document = new Document(new Map([['rules', rules.map(({ rule }) => rule)]]))
  compactBelow(document, 2)
  const lines = toText(document).trimEnd().split('\n')
  return `\n# Uncomment to manage temporary branches. The branches that a rule matches have equal computes now:\n${lines.map((line) => `# ${line}\n`).join('')}`
}
