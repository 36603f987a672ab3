/** The attributes of a compute, and how defaults, profiles and a compute's own lie over each other. */

import { isScalar, type Node } from 'yaml'
import { nearest } from '../../base/index.ts'
import type { ComputeAttributes, Source } from '../../model/index.ts'
import { type Entry, list, type ReadContext } from './context.ts'
import { readRestartWindow, type WindowValue } from './restart-window.ts'
import { readBoolean, readScaleToZero, readSize, readText, readTexts } from './values.ts'

/** Attributes with the place of each, by manifest path. */
export interface AttributeSet {
  readonly values: ComputeAttributes
  readonly restartWindow?: WindowValue
  readonly sources: Readonly<Record<string, Source>>
}

export const ATTRIBUTE_NAMES = [
  'size',
  'scaleToZero',
  'disabled',
  'pooler',
  'passwordlessAccess',
  'postgres',
  'restartWindow',
] as const

export const NO_ATTRIBUTES: AttributeSet = { values: {}, sources: {} }

export const readAttributes = (context: ReadContext, entries: ReadonlyMap<string, Entry>): AttributeSet => {
  const values: { -readonly [K in keyof ComputeAttributes]: ComputeAttributes[K] } = {}
  const sources: Record<string, Source> = {}
  const take = <K extends keyof ComputeAttributes>(
    key: K,
    path: string,
    entry: Entry | undefined,
    read: (node: Node | null) => ComputeAttributes[K] | undefined,
  ): void => {
    const value = entry === undefined ? undefined : read(entry.value)
    if (value === undefined || entry === undefined) return
    values[key] = value
    sources[path] = context.source(entry.value)
  }

  take('size', 'size', entries.get('size'), (node) => readSize(context, node))
  take('scaleToZero', 'scaleToZero', entries.get('scaleToZero'), (node) => readScaleToZero(context, node))
  take('disabled', 'disabled', entries.get('disabled'), (node) => readBoolean(context, node, '`disabled`'))
  take('passwordlessAccess', 'passwordlessAccess', entries.get('passwordlessAccess'), (node) =>
    readBoolean(context, node, '`passwordlessAccess`'),
  )

  const pooler = entries.get('pooler')
  const poolerEntries = pooler && context.known(pooler.value, '`pooler`', ['enabled', 'mode'])
  take('poolerEnabled', 'pooler.enabled', poolerEntries?.get('enabled'), (node) =>
    readBoolean(context, node, '`enabled`'),
  )
  take('poolerMode', 'pooler.mode', poolerEntries?.get('mode'), (node) => {
    const mode = readText(context, node, '`mode`')
    if (mode === undefined || mode === 'transaction') return mode
    return context.report('E_VALUE', node, `The pooler has no mode \`${mode}\`.`, `It takes ${list(['transaction'])}.`)
  })

  const postgres = entries.get('postgres')
  const postgresEntries = postgres && context.known(postgres.value, '`postgres`', POSTGRES_KEYS, settingHint)
  take('postgresPreload', 'postgres.preload', postgresEntries?.get('preload'), (node) =>
    readTexts(context, node, '`preload`'),
  )
  take('postgresSettings', 'postgres.settings', postgresEntries?.get('settings'), (node) => {
    const settings = context.entries(node, '`settings`')
    if (settings === undefined) return undefined
    const pairs = settings.flatMap(({ key, value }): (readonly [string, string])[] => {
      const text = isScalar(value)
        ? readText(context, value, `\`${key}\``, true)
        : context.wrongType(value, `\`${key}\``, 'text')
      if (text === undefined) return []
      sources[`postgres.settings.${key}`] = context.source(value)
      return [[key, text]]
    })
    return Object.fromEntries(pairs)
  })
  const windowEntry = entries.get('restartWindow')
  const restartWindow = windowEntry && readRestartWindow(context, windowEntry.value)
  return { values, sources, ...(restartWindow === undefined ? {} : { restartWindow }) }
}

const POSTGRES_KEYS = ['settings', 'preload']

/** Anything that is not a slip of one of the keys is the name of a setting. */
const settingHint = (key: string): string | undefined =>
  nearest(key, POSTGRES_KEYS) === undefined && /^[a-z][a-z0-9_.]*$/i.test(key)
    ? `Postgres settings go under \`settings\`: \`postgres: { settings: { ${key}: … } }\`.`
    : undefined

/** The later one wins; Postgres settings are merged name by name. */
export const overlay = (below: AttributeSet, above: AttributeSet): AttributeSet => ({
  ...below,
  ...above,
  values: {
    ...below.values,
    ...above.values,
    ...(below.values.postgresSettings === undefined || above.values.postgresSettings === undefined
      ? {}
      : { postgresSettings: { ...below.values.postgresSettings, ...above.values.postgresSettings } }),
  },
  sources: { ...below.sources, ...above.sources },
})
