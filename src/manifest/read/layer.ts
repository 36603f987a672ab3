/** The content of a document or shared file, and how files override what they extend ("Precedence" in docs/manifest.md). */
import {
  ATTRIBUTE_KEYS,
  type DesiredAbsence,
  isAbsence,
  type Policy,
  type Price,
  rowOf,
  type Source,
} from '../../model/index.ts'
import { type AttributeSet, NO_ATTRIBUTES } from './attributes.ts'
import type { Sourced } from './tree.ts'

export interface ComputeLayer {
  readonly source: Source
  readonly id?: Sourced<string>
  readonly renamedFrom?: string
  readonly profile?: Sourced<string>
  readonly own: AttributeSet
}

export interface ShapeLayer {
  readonly source: Source
  readonly protect?: Sourced<boolean>
  readonly primary?: ComputeLayer | DesiredAbsence
  readonly replicas: ReadonlyMap<string, ComputeLayer | DesiredAbsence>
}

export interface RuleLayer extends ShapeLayer {
  readonly match: string
  readonly except: readonly string[]
  readonly expires?: boolean
}

export interface Layer {
  readonly prune?: Sourced<boolean>
  readonly parkOn?: Sourced<string>
  readonly price?: Sourced<Price>
  readonly tier?: Sourced<string>
  /** Seconds. */
  readonly skipExpiring?: Sourced<number>
  readonly policies: readonly Policy[]
  /** Includes the document's `restartWindow`, which a `restartWindow` under `defaults` overrides. */
  readonly defaults: AttributeSet
  readonly profiles: ReadonlyMap<string, AttributeSet>
  readonly branches: ReadonlyMap<string, ShapeLayer>
  readonly rules: readonly RuleLayer[]
}

export const EMPTY_LAYER: Layer = {
  policies: [],
  defaults: NO_ATTRIBUTES,
  profiles: new Map(),
  branches: new Map(),
  rules: [],
}

/** Merges two layers. `above` takes precedence. */
export const overlay = (below: Layer, above: Layer): Layer => ({
  ...below,
  ...above,
  defaults: overlayAttributes(below.defaults, above.defaults),
  profiles: new Map([...below.profiles, ...above.profiles]),
  branches: overlayMaps(below.branches, above.branches, overlayShapes),
  policies: [...below.policies, ...above.policies],
  rules: [...above.rules, ...below.rules.filter((rule) => !isReplaced(rule, above.rules))],
})

const isReplaced = ({ match, expires }: RuleLayer, rules: readonly RuleLayer[]): boolean =>
  rules.some((rule) => rule.match === match && rule.expires === expires)

const MAPS = ATTRIBUTE_KEYS.filter((key) => rowOf(key).type === 'map')

/** Merges attribute by attribute, and maps entry by entry. */
export const overlayAttributes = (below: AttributeSet, above: AttributeSet): AttributeSet => {
  if (below === NO_ATTRIBUTES) return above
  const values: Record<string, unknown> = { ...below.values, ...above.values }
  for (const key of MAPS) {
    if (values[key] !== undefined) values[key] = { ...(below.values[key] as object), ...(above.values[key] as object) }
  }
  return { ...below, ...above, values, sources: { ...below.sources, ...above.sources } }
}

const overlayShapes = (below: ShapeLayer, above: ShapeLayer): ShapeLayer => {
  const [lower, upper] = [below.primary, above.primary]
  return {
    ...below,
    ...above,
    ...(lower !== undefined && upper !== undefined ? { primary: overlayComputes(lower, upper) } : {}),
    replicas: overlayMaps(below.replicas, above.replicas, overlayComputes),
  }
}

type Declared = ComputeLayer | DesiredAbsence

const overlayComputes = (below: Declared, above: Declared): Declared =>
  isAbsence(below) || isAbsence(above) ? above : { ...below, ...above, own: overlayAttributes(below.own, above.own) }

const overlayMaps = <T>(
  below: ReadonlyMap<string, T>,
  above: ReadonlyMap<string, T>,
  overlayBoth: (below: T, above: T) => T,
): ReadonlyMap<string, T> => {
  if (below.size === 0) return above
  const result = new Map(below)
  for (const [key, upper] of above) {
    const lower = below.get(key)
    result.set(key, lower === undefined ? upper : overlayBoth(lower, upper))
  }
  return result
}
