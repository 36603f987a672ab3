/** One document: a project's declarations, or what several of them share. */
import { isScalar, isSeq, type Node } from 'yaml'
import type { BranchReference, DesiredBranch, DesiredDocument, DesiredRule } from '../../model/index.ts'
import { ATTRIBUTE_NAMES, type AttributeSet, NO_ATTRIBUTES, overlay, readAttributes } from './attributes.ts'
import { type Base, readShape } from './compute.ts'
import { type Entry, list, type ReadContext } from './context.ts'
import { readRestartWindow } from './restart-window.ts'
import { readBoolean, readGlob, readText, readTexts } from './values.ts'

const SHARED_KEYS = ['defaults', 'profiles']
const DOCUMENT_KEYS = [
  'version',
  'project',
  'extends',
  'restartWindow',
  ...SHARED_KEYS,
  'branches',
  'rules',
  'prune',
  'parkOn',
]

/** Finds what `extends` names; reports itself where it cannot. */
export type FindShared = (context: ReadContext, node: Node | null, path: string) => Base | undefined

export const EMPTY_BASE: Base = { defaults: NO_ATTRIBUTES, profiles: new Map() }

/** A document of defaults and profiles only, which others extend: it declares nothing by itself. */
export const isShared = (keys: readonly string[]): boolean =>
  keys.length > 0 && keys.every((key) => SHARED_KEYS.includes(key) || key === 'version')

/** @returns `undefined` where the document names no project or is no map; every problem is reported. */
export const readDocument = (context: ReadContext, findShared: FindShared): DesiredDocument | undefined => {
  const root = context.root
  const entries = context.known(root, 'A manifest', DOCUMENT_KEYS)
  if (entries === undefined || isShared([...entries.keys()])) {
    if (entries !== undefined) readBase(context, entries, EMPTY_BASE)
    return undefined
  }
  readVersion(context, root, entries.get('version'))
  const project = readProject(context, root, entries.get('project'))
  const extending = entries.get('extends')
  const path = extending && readText(context, extending.value, '`extends`')
  const shared = extending !== undefined && path !== undefined ? findShared(context, extending.value, path) : undefined
  const windowEntry = entries.get('restartWindow')
  const restartWindow = windowEntry && readRestartWindow(context, windowEntry.value)
  const own = restartWindow === undefined ? {} : { restartWindow }
  const below = shared ?? EMPTY_BASE
  const base = readBase(context, entries, { ...below, defaults: { ...below.defaults, ...own } })

  const prune = entries.get('prune')
  const parkOn = entries.get('parkOn')
  const parkOnRef = parkOn && readText(context, parkOn.value, '`parkOn`')
  const document: Omit<DesiredDocument, 'project'> = {
    source: context.source(entries.get('project')?.value ?? root),
    branches: readBranches(context, entries.get('branches'), base),
    rules: readRules(context, entries.get('rules'), base),
    prune: prune === undefined ? false : (readBoolean(context, prune.value, '`prune`') ?? false),
    ...(parkOn === undefined || parkOnRef === undefined
      ? {}
      : { parkOn: { ref: parkOnRef, source: context.source(parkOn.value) } satisfies BranchReference }),
    ...(base.defaults.restartWindow === undefined ? {} : { restartWindow: base.defaults.restartWindow }),
  }
  return project === undefined ? undefined : { project, ...document }
}

/** A shared file as such: anything but defaults and profiles is reported. */
export const readShared = (context: ReadContext): Base | undefined => {
  const entries = context.known(context.root, 'A shared file', ['version', ...SHARED_KEYS])
  return entries === undefined ? undefined : readBase(context, entries, EMPTY_BASE)
}

const readBase = (context: ReadContext, entries: ReadonlyMap<string, Entry>, below: Base): Base => {
  const defaults = entries.get('defaults')
  const own = defaults === undefined ? NO_ATTRIBUTES : readSet(context, defaults.value, '`defaults`')
  const profiles = new Map(below.profiles)
  const profilesEntry = entries.get('profiles')
  for (const { key, value } of (profilesEntry && context.entries(profilesEntry.value, '`profiles`')) ?? []) {
    profiles.set(key, readSet(context, value, `The profile \`${key}\``))
  }
  return { defaults: overlay(below.defaults, own), profiles }
}

const readSet = (context: ReadContext, node: Node | null, what: string): AttributeSet => {
  const entries = context.known(node, what, ATTRIBUTE_NAMES)
  return entries === undefined ? NO_ATTRIBUTES : readAttributes(context, entries)
}

const readVersion = (context: ReadContext, root: Node | null, entry: Entry | undefined): void => {
  if (entry === undefined) {
    context.report('E_REQUIRED', firstOf(root), 'The document does not say which format it is in.', 'Add `version: 1`.')
  } else if (!isScalar(entry.value) || entry.value.value !== 1) {
    context.report('E_VERSION', entry.value, 'This program reads version 1 of the format.', 'Write `version: 1`.')
  }
}

const readProject = (context: ReadContext, root: Node | null, entry: Entry | undefined): string | undefined => {
  if (entry === undefined) {
    return context.report(
      'E_REQUIRED',
      firstOf(root),
      'The document names no project.',
      'Add `project: <the project id>`.',
    )
  }
  const id = readText(context, entry.value, '`project`')
  if (id === undefined || /^[a-z0-9-]{1,60}$/.test(id)) return id
  return context.report(
    'E_VALUE',
    entry.value,
    'A project id has 1 to 60 lower-case letters, digits and hyphens.',
    'It stands in the console under Settings, and is not the name of the project.',
  )
}

const firstOf = (root: Node | null): Node | null =>
  root !== null && 'items' in root ? (((root.items as { key?: Node }[])[0]?.key as Node | undefined) ?? root) : root

const readBranches = (context: ReadContext, entry: Entry | undefined, base: Base): readonly DesiredBranch[] => {
  if (entry === undefined) return []
  return (context.entries(entry.value, '`branches`') ?? []).flatMap(({ key, keyNode, value }) => {
    const entries = context.known(value, `Branch \`${key}\``, ['protect', 'primary', 'replicas'])
    if (entries === undefined) return []
    return [{ ref: key, source: context.source(keyNode), ...readShape(context, entries, base, true) }]
  })
}

const readRules = (context: ReadContext, entry: Entry | undefined, base: Base): readonly DesiredRule[] => {
  if (entry === undefined) return []
  if (!isSeq(entry.value)) {
    context.wrongType(entry.value, '`rules`', 'a list')
    return []
  }
  const seen = new Map<string, number>()
  return entry.value.items.flatMap((item): readonly DesiredRule[] => {
    const node = context.follow(item as Node)
    const entries = context.known(node, 'A rule', ['match', 'except', 'protect', 'primary', 'replicas'])
    if (entries === undefined) return []
    const matchEntry = entries.get('match')
    if (matchEntry === undefined) {
      context.report(
        'E_REQUIRED',
        firstOf(node),
        'A rule must say which branches it is for.',
        'Add `match: preview/*`.',
      )
    }
    const match = matchEntry && readGlob(context, matchEntry.value, '`match`')
    const exceptEntry = entries.get('except')
    const except = exceptEntry === undefined ? [] : readGlobs(context, exceptEntry.value)
    const shape = readShape(context, entries, base, false)
    if (match === undefined || matchEntry === undefined) return []
    const source = context.source(matchEntry.value)
    const first = seen.get(match)
    if (first !== undefined) {
      context.report(
        'E_TWO_RULES',
        matchEntry.value,
        `A rule for ${list([match])} stands in line ${first} already, and the first match wins.`,
        'Keep one of the two.',
      )
      return []
    }
    seen.set(match, source.line)
    return [{ match, except, source, ...shape }]
  })
}

const readGlobs = (context: ReadContext, node: Node | null): readonly string[] => {
  if (!isSeq(node)) return readTexts(context, node, '`except`') ?? []
  return node.items
    .map((item) => readGlob(context, context.follow(item as Node), 'An entry of `except`'))
    .filter((glob) => glob !== undefined)
}
