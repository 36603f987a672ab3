/** Writes a manifest for a live project, as a person would write it. */
import { Document } from 'yaml'
import { globFilter, groupBy, plainText } from '../../base/index.ts'
import { byBranch, type ObservedBranch, type ObservedProject, ruleFilter } from '../../model/index.ts'
import { type BranchShape, bodyOf, computesOf, refOf, shapeOf, textOf, type Written } from './from-live.ts'
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
  /** The `defaults` in the text, and why: one sentence each. */
  readonly reasons: readonly string[]
  readonly rules: readonly InferredRule[]
  /** Number of declared computes. */
  readonly computes: number
}

export const isChosen = (branch: string, { branches }: Pick<ExportOptions, 'branches'>): boolean =>
  globFilter(branches)(branch)

export const exportProject = (project: ObservedProject, options: ExportOptions): Exported => {
  const chosen = project.branches.filter(({ name }) => isChosen(name, options)).toSorted(byBranch)
  const shapes = chosen.map((branch) => shapeOf(branch, project.computes, { pin: options.pin, taken: new Set() }))
  const declared = shapes.filter((shape) => computesOf(shape).length > 0)
  const { rules, listed } = takeRules(declared, project.branches, options)
  const { defaults, rest, rules: ruleBodies, reasons } = takeDefaults(listed, rules)
  const bare = shapes.length - declared.length
  const leftOut = [
    ...shapes.flatMap((shape) => shape.leftOut),
    ...(bare > 0 ? [`${bare} ${bare === 1 ? 'branch has' : 'branches have'} no compute to declare`] : []),
  ]

  const root: Written = new Map(Object.entries({ version: 1, project: project.id }))
  if (defaults.size > 0) root.set('defaults', defaults)
  if (rest.length > 0) root.set('branches', new Map(rest.map((shape) => [refOf(shape.branch), bodyOf(shape)])))
  if (ruleBodies.length > 0) root.set('rules', ruleBodies)
  return {
    text: render(root, options.schema, leftOut),
    leftOut,
    reasons,
    rules,
    computes: listed.flatMap(computesOf).length + rules.reduce((sum, { branches }) => sum + branches, 0),
  }
}

const render = (root: Written, schema: string, leftOut: readonly string[]): string => {
  const document = new Document(root)
  compactBelow(document, 2)
  document.commentBefore = ` yaml-language-server: $schema=${schema}`
  const left = leftOut.map((line) => `#   ${plainText(line)}\n`)
  const tail = left.length === 0 ? '' : `\n# Left out, so not managed:\n${left.join('')}`
  return toText(document) + tail
}

// What a new manifest says beyond live values: defaults, and rules for branches that are alike.

interface WithDefaults {
  readonly defaults: Written
  readonly rest: readonly BranchShape[]
  readonly rules: readonly Written[]
  readonly reasons: readonly string[]
}

/** Moves the most common values of the listed computes into `defaults`, if all computes and rules declare the attribute. */
const takeDefaults = (shapes: readonly BranchShape[], inferred: readonly InferredRule[]): WithDefaults => {
  const all = shapes.flatMap(computesOf)
  const ofRules = inferred.map(({ body }) => body.get('primary') as Written)
  const defaults: Written = new Map()
  const reasons: string[] = []
  for (const key of ['size', 'scaleToZero']) {
    // A compute that is too large to scale to zero may have no `scaleToZero`, but a default would apply to it too.
    if (all.length < 2 || [...all, ...ofRules].some((written) => !written.has(key))) continue
    const most = mostAlike(all, key)
    if (most.length < 2 || (key === 'size' && most.length <= all.length / 2)) continue
    const value = most[0]?.get(key)
    reasons.push(`defaults: \`${key}: ${inline(value)}\`, which ${most.length} of ${all.length} computes have`)
    defaults.set(key, value)
  }
  const withoutDefaults = (written: Written): Written =>
    new Map([...written].filter(([key, value]) => !defaults.has(key) || textOf(value) !== textOf(defaults.get(key))))
  const rest = shapes.map(
    ({ primary, replicas, ...shape }): BranchShape => ({
      ...shape,
      ...(primary && { primary: withoutDefaults(primary) }),
      replicas: new Map([...replicas].map(([name, written]) => [name, withoutDefaults(written)])),
    }),
  )
  const rules = inferred.map(
    ({ body }) => new Map([...body, ['primary', withoutDefaults(body.get('primary') as Written)]]),
  )
  return { defaults, rest, rules, reasons }
}

const mostAlike = (all: readonly Written[], key: string): readonly Written[] => {
  const groups = groupBy(all, (written) => textOf(written.get(key)))
  const [most = []] = [...groups.values()].sort((a, b) => b.length - a.length)
  return most
}

const inline = (value: unknown): string =>
  value instanceof Map ? `{ ${[...value].map(([key, one]) => `${key}: ${String(one)}`).join(', ')} }` : String(value)

export interface InferredRule {
  readonly match: string
  readonly expires?: true
  readonly body: Written
  /** The number of branches that it declares. */
  readonly branches: number
  /** The attributes that the rule does not declare, because these branches differ in them. */
  readonly differing: readonly string[]
}

/**
 * Declares branches that probably come and go by rules. If they were listed, the manifest would be wrong as soon as one
 * of them is deleted. These are branches that expire, and branches with the same prefix such as `preview/`. Branches
 * with a sign of permanence are listed: the default branch, protected ones, and ones that have replicas or a name.
 *
 * @param branches the branches that a new rule would match, if its pattern does.
 * @param listedBefore branches that an existing manifest lists. They count as branches with the same prefix.
 */
export const takeRules = (
  shapes: readonly BranchShape[],
  branches: readonly ObservedBranch[],
  options: Pick<ExportOptions, 'branches' | 'pin'>,
  listedBefore: readonly ObservedBranch[] = [],
): { readonly rules: readonly InferredRule[]; readonly listed: readonly BranchShape[] } => {
  const groups = options.pin ? [] : temporaryGroups(shapes, listedBefore)
  const inGroups = new Set(groups.flatMap(({ members }) => members.map(({ branch }) => branch.id)))
  const withComputes = new Set(shapes.map(({ branch }) => branch.id))
  const rules: InferredRule[] = []
  const covered = new Set<BranchShape>()
  for (const { selector, members } of groups) {
    const isMatch = ruleFilter({ except: [], ...selector })
    const others = branches.filter((branch) => isMatch(branch) && !inGroups.has(branch.id))
    // The rule would create a primary on these branches.
    const except = others.filter(({ id }) => !withComputes.has(id)).map(({ name }) => name)
    if (!others.every(({ name }) => isChosen(name, options)) || except.some(isGlobLike)) continue
    rules.push(ruleOf(selector, except, members))
    for (const shape of members) covered.add(shape)
  }
  return { rules, listed: shapes.filter((shape) => !covered.has(shape)) }
}

interface Group {
  readonly selector: { readonly match: string; readonly expires?: true }
  readonly members: readonly BranchShape[]
}

const temporaryGroups = (shapes: readonly BranchShape[], listedBefore: readonly ObservedBranch[]): readonly Group[] => {
  const temporary = shapes.filter(mayBeTemporary)
  const byPrefix = groupBy(temporary, ({ branch }) => /^([\w.-]+\/)+(?=[^/]+$)/.exec(branch.name)?.[0] ?? '')
  const others = listedBefore.filter(({ isDefault, isProtected }) => !isDefault && !isProtected)
  const countOf = (prefix: string, { length }: readonly BranchShape[]): number =>
    length + others.filter(({ name }) => name.startsWith(prefix)).length
  const alike = [...byPrefix].filter(([prefix, members]) => prefix !== '' && countOf(prefix, members) > 1)
  const inAlike = new Set(alike.flatMap(([, members]) => members))
  const expiring = temporary.filter((shape) => shape.branch.expiresAt !== undefined && !inAlike.has(shape))
  return [
    ...alike.map(([prefix, members]) => ({ selector: { match: `${prefix}*` }, members })),
    ...(expiring.length === 0 ? [] : [{ selector: { match: '**', expires: true as const }, members: expiring }]),
  ]
}

const mayBeTemporary = ({ branch, primary, replicas }: BranchShape): boolean => {
  if (primary === undefined || branch.isDefault || branch.isProtected) return false
  return branch.expiresAt !== undefined || (replicas.size === 0 && !primary.has('id') && !primary.has('name'))
}

const isGlobLike = (name: string): boolean => /[*?[\]{}!\\]/.test(name)

/** Declares only what all the branches have in common. */
const ruleOf = (
  selector: Group['selector'],
  except: readonly string[],
  members: readonly BranchShape[],
): InferredRule => {
  const primaries = members.map(({ primary }) => primary ?? new Map<string, unknown>())
  const keys = [...new Set(primaries.flatMap((primary) => [...primary.keys()]))].filter((key) => !OWN.includes(key))
  const differing = keys.filter((key) => new Set(primaries.map((primary) => textOf(primary.get(key)))).size > 1)
  const unmanaged = [
    ...differing.map((key) => `\`${key}\``),
    ...(members.some(({ replicas }) => replicas.size > 0) ? ['replicas'] : []),
  ]
  const { match, expires } = selector
  const common = new Map([...(primaries[0] ?? [])].filter(([key]) => keys.includes(key) && !differing.includes(key)))
  return {
    ...selector,
    body: new Map<string, unknown>([
      ['match', match],
      ...(except.length > 0 ? [['except', except] as const] : []),
      ...(expires === undefined ? [] : [['expires', expires] as const]),
      ['primary', common],
    ]),
    branches: members.length,
    differing: unmanaged,
  }
}

/** The keys of a primary that fit only one compute. */
const OWN: readonly string[] = ['id', 'name']
