/** The two attributes in the API's field `settings`. */
import { list, named, type Schema, text } from '../../base/index.ts'
import type { AttributeRow, WireSettings } from './row.ts'

type SettingsField = { readonly settings: 'settings' }

const SCALAR: Schema<string | number | boolean> = {
  not: { anyOf: [{ type: 'object' }, { type: 'array' }, { type: 'null' }] },
  $comment: 'E_SETTING',
}

export const POSTGRES_SETTINGS: AttributeRow<'map', SettingsField> = {
  type: 'map',
  path: 'postgres.settings',
  isSecret: true,
  fields: { settings: 'settings' },
  schema: named(SCALAR, {
    description: 'Postgres settings (`pg_settings`). Settings that are not listed keep their values.',
    examples: [{ work_mem: '64MB' }],
  }),
  rule: 'only some Postgres settings can be reloaded, the others need a restart',
  impact: () => 'may-restart',
  satisfied: (desired, observed) => Object.entries(desired).every(([name, value]) => observed?.[name] === value),
  // The service takes text, so numbers are passed on as written.
  read: (value, { written }) =>
    Object.fromEntries(
      Object.entries(value as Readonly<Record<string, unknown>>).map(([name, one]) => [
        name,
        typeof one === 'string' ? one : (written(name) ?? String(one)),
      ]),
    ),
  write: (settings) => new Map(Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1))),
  isImported: (settings) => Object.keys(settings).length > 0,
  fromWire: ({ settings }) => (settings === undefined ? undefined : (settings.pg_settings ?? {})),
  toWire: (settings) => ({ settings: { pg_settings: settings } }),
  format: (settings) =>
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
}

export const POSTGRES_PRELOAD: AttributeRow<'list', SettingsField> = {
  type: 'list',
  path: 'postgres.preload',
  fields: { settings: 'settings' },
  schema: list(text(), {
    description:
      'The complete list of libraries to preload (`preload_libraries.enabled_libraries`). Other parts of `settings` are kept.',
    examples: [['pg_stat_statements']],
  }),
  rule: "the service's public OpenAPI: preloaded libraries are activated by a restart",
  impact: () => 'restart',
  absent: [],
  satisfied: (desired, observed = []) =>
    new Set(desired).size === new Set(observed).size && desired.every((library) => observed.includes(library)),
  read: (value) => [...(value as readonly string[])],
  write: (libraries) => [...libraries],
  isImported: (libraries) => libraries.length > 0,
  fromWire: ({ settings }) => settings?.preload_libraries && (settings.preload_libraries.enabled_libraries ?? []),
  toWire: (libraries) => ({ settings: { preload_libraries: { enabled_libraries: libraries } } }),
  format: (libraries) => (libraries.length === 0 ? '(none)' : libraries.join(', ')),
}

/** Sorts keys, so that requests do not depend on the order in which the API lists them. */
const sorted = <T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))

/** The complete `settings` with the changes applied. The service rejects `settings` without `pg_settings`. */
export const mergeSettings = (live: WireSettings, changes: WireSettings): WireSettings => ({
  ...sorted(live),
  pg_settings: sorted({ ...live.pg_settings, ...changes.pg_settings }),
  ...(changes.preload_libraries === undefined
    ? {}
    : { preload_libraries: { ...live.preload_libraries, ...changes.preload_libraries } }),
})
