/** Lists every declared attribute of a project with its live value. The agent keeps this list in its record. */
import {
  type AttributeChange,
  type AttributeValue,
  type Change,
  type Desired,
  type DesiredRule,
  differingKeys,
  type ObservedProject,
  rowOf,
  valuesOf,
} from '../model/index.ts'
import { managedKeys } from './attribute-changes.ts'
import { type Declarations, declarationsOf } from './declarations.ts'
import type { Claim, MatchOptions } from './match.ts'
import { isProtected } from './resolve.ts'

/** One attribute of one compute. Existence, branch and type count as attributes. */
export interface Fact {
  /** Same format as {@link differenceKey}. */
  readonly key: string
  /** The declared value, as text. `null` if it is declared absent. */
  readonly want: string | null
  /** The live value, as text. `null` if there is none. */
  readonly live: string | null
  readonly agrees: boolean
  /** The live compute that a declaration claims. */
  readonly claimed?: Claimed
}

interface Claimed {
  readonly id: string
  /** Same as the id of the change that creates the compute. */
  readonly slot: string
  /** If a rule declares it on a branch that is neither the default branch nor protected. */
  readonly byRule?: { readonly rule: string; readonly branchCreatedAt: string }
}

/** Key of the fact that a change resolves: one attribute, or the compute as a whole. */
export const differenceKey = ({ id, kind, compute }: Change, attribute?: AttributeChange): string => {
  const whole = { create: 'exists', delete: 'exists', replace: 'type', move: 'branch', update: '' }[kind]
  return `${compute.id ?? id}/${attribute?.path ?? whole}`
}

export const factsOf = (desired: Desired, project: ObservedProject, options: MatchOptions = {}): readonly Fact[] => {
  const declarations = declarationsOf(desired, project, options)
  const rules = new Map(
    declarations.branches.flatMap(({ rule, ...declared }) =>
      rule === undefined || declared.branch.isDefault || isProtected(declared)
        ? []
        : [[declared.branch.id, ruleKey(rule)] as const],
    ),
  )
  const facts = (claim: Claim): readonly Fact[] => {
    const { observed, branch } = claim
    const all = claimFacts(claim, project.id)
    if (observed === undefined) return all
    const rule = rules.get(branch.id)
    const byRule = rule === undefined ? {} : { byRule: { rule, branchCreatedAt: branch.createdAt ?? '' } }
    const claimed: Claimed = { id: observed.id, slot: `${project.id}/${claim.slot}`, ...byRule }
    return all.map((fact) => ({ ...fact, claimed }))
  }
  return [...declarations.claims.flatMap(facts), ...unclaimedFacts(declarations)]
}

/** Identifies a rule by the branches that it matches. */
export const ruleKey = ({ match, except, expires }: DesiredRule): string => JSON.stringify([match, except, expires])

const claimFacts = ({ slot, branch, type, desired, observed: live }: Claim, project: string): readonly Fact[] => {
  const exists = { key: `${project}/${slot}/exists`, want: 'yes', live: live === undefined ? null : 'yes' }
  if (live === undefined) return [{ ...exists, agrees: false }]
  const differing = differingKeys(desired.attributes, live.attributes)
  return [
    { ...exists, agrees: true },
    { key: `${live.id}/type`, want: type, live: live.type, agrees: type === live.type },
    { key: `${live.id}/branch`, want: branch.id, live: live.branchId, agrees: branch.id === live.branchId },
    ...managedKeys(desired).flatMap((key): readonly Fact[] => {
      const isMap = rowOf(key).type === 'map'
      const now = valuesOf(key, live.attributes)
      const textOf = (value: AttributeValue | undefined): string | null =>
        value === undefined ? null : isMap ? String(value) : JSON.stringify(value)
      return [...valuesOf(key, desired.attributes)].map(([path, want]) => ({
        key: `${live.id}/${path}`,
        want: textOf(want),
        live: textOf(now.get(path)),
        agrees: isMap ? now.get(path) === want : !differing.includes(key),
      }))
    }),
  ]
}

/** Includes unmanaged computes, so that a later `prune` is recognized as such. */
const unclaimedFacts = ({ unclaimed, departures }: Declarations): readonly Fact[] => {
  const leaving = new Set(departures.map(({ live }) => live.id))
  return unclaimed.map(({ id }) => ({
    key: `${id}/exists`,
    want: leaving.has(id) ? null : 'yes',
    live: 'yes',
    agrees: !leaving.has(id),
  }))
}
