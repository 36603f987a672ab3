/** One valid document: a project's declarations, or what several of them share. */
import {
  type DesiredBranch,
  type DesiredDocument,
  type DesiredRule,
  globProblem,
  type SizeTable,
} from '../../model/index.ts'
import { type ManifestValue, type RuleValue, SHARED_KEYS, type SharedValue } from '../definition/index.ts'
import { list } from '../words/list.ts'
import type { Tree } from '../yaml/tree.ts'
import { NO_ATTRIBUTES, overlay, readAttributes, readWindow } from './attributes.ts'
import { type Base, readShape } from './compute.ts'

/** Finds the file that `extends` names; reports it where it cannot. */
export type FindShared = (tree: Tree, manifest: ManifestValue, path: string) => Base | undefined

export const EMPTY_BASE: Base = { defaults: NO_ATTRIBUTES, profiles: new Map() }

/** A document of nothing but shared keys, which others extend: it declares nothing by itself. */
export const isShared = (keys: readonly string[]): boolean =>
  keys.length > 0 && keys.every((key) => SHARED_KEYS.includes(key))

export const readDocument = (
  tree: Tree,
  manifest: ManifestValue,
  table: SizeTable,
  findShared: FindShared,
): DesiredDocument => {
  const { project, prune = false, parkOn } = manifest
  const shared =
    (manifest.extends === undefined ? undefined : findShared(tree, manifest, manifest.extends)) ?? EMPTY_BASE
  const window = manifest.restartWindow === undefined ? undefined : readWindow(tree, manifest.restartWindow)
  const own = window === undefined ? {} : { restartWindow: window }
  const base = readBase(tree, manifest, { ...shared, defaults: { ...shared.defaults, ...own } })
  const { restartWindow } = base.defaults
  return {
    project,
    source: tree.source(manifest, 'project'),
    branches: readBranches(tree, manifest.branches ?? {}, base, table),
    rules: readRules(tree, manifest.rules ?? [], base, table),
    prune,
    ...(parkOn === undefined ? {} : { parkOn: { ref: parkOn, source: tree.source(manifest, 'parkOn') } }),
    ...(restartWindow === undefined ? {} : { restartWindow }),
  }
}

export const readBase = (tree: Tree, value: SharedValue, below: Base): Base => ({
  defaults: overlay(
    below.defaults,
    value.defaults === undefined ? NO_ATTRIBUTES : readAttributes(tree, value.defaults),
  ),
  profiles: new Map([
    ...below.profiles,
    ...Object.entries(value.profiles ?? {}).map(([name, own]) => [name, readAttributes(tree, own)] as const),
  ]),
})

const readBranches = (
  tree: Tree,
  branches: NonNullable<ManifestValue['branches']>,
  base: Base,
  table: SizeTable,
): readonly DesiredBranch[] =>
  Object.entries(branches).map(([ref, branch]) => ({
    ref,
    source: tree.keySource(branches, ref),
    ...readShape(tree, branch, base, table),
  }))

const readRules = (tree: Tree, rules: readonly RuleValue[], base: Base, table: SizeTable): readonly DesiredRule[] => {
  const lines = new Map<string, number>()
  return rules.flatMap((rule): readonly DesiredRule[] => {
    const { match, except = [] } = rule
    const source = tree.source(rule, 'match')
    const shape = readShape(tree, rule, base, table)
    const isValid = checkGlob(tree, rule, 'match', match)
    const exceptions = except.filter((glob, index) => checkGlob(tree, except, index, glob))
    const first = lines.get(match)
    lines.set(match, first ?? source.line)
    if (first !== undefined) {
      const message = `Line ${first} already has a rule for ${list([match])}, and the first match wins.`
      tree.report('E_TWO_RULES', source, message, 'Keep one of the two.')
    }
    return isValid && first === undefined ? [{ match, except: exceptions, source, ...shape }] : []
  })
}

const checkGlob = (tree: Tree, parent: object, key: string | number, glob: string): boolean => {
  const problem = globProblem(glob)
  if (problem === undefined) return true
  tree.report('E_GLOB', tree.source(parent, key), `This is not a valid glob: ${problem}.`)
  return false
}
