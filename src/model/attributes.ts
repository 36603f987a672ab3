/**
 * The attributes of a compute, as data: where each stands in a manifest and on the API, when two values are the same,
 * what a change of it does. Comparing, request bodies, rendering, import and documentation all read this table.
 */
import type { Impact } from './impact.ts'
import type { Reason } from './reason.ts'
import { formatScaleToZero, sameScaleToZero } from './scale-to-zero.ts'
import { formatSize, type Size } from './size.ts'

/** Managed (desired) or shown (observed) attributes; one left out is not managed, or was not shown. */
export interface ComputeAttributes {
  readonly name?: string
  readonly size?: Size
  /** Seconds as the API has them: 0 default, −1 never. */
  readonly scaleToZero?: number
  readonly disabled?: boolean
  readonly poolerEnabled?: boolean
  readonly poolerMode?: string
  readonly passwordlessAccess?: boolean
  readonly postgresSettings?: Readonly<Record<string, string>>
  readonly postgresPreload?: readonly string[]
}

export type AttributeKey = keyof ComputeAttributes

/** The attributes as the API spells them (spec 2.2; `settings` and `name` from the service's public OpenAPI). */
export interface WireAttributes {
  readonly name?: string | undefined
  readonly autoscaling_limit_min_cu?: number | undefined
  readonly autoscaling_limit_max_cu?: number | undefined
  readonly suspend_timeout_seconds?: number | undefined
  readonly disabled?: boolean | undefined
  readonly pooler_enabled?: boolean | undefined
  readonly pooler_mode?: string | undefined
  readonly passwordless_access?: boolean | undefined
  readonly settings?: WireSettings | undefined
}

/** A request replaces `settings` whole (Neon staff in neondatabase/neon#7628), so what nobody declares is sent as it is. */
export interface WireSettings {
  readonly pg_settings?: Readonly<Record<string, string>> | undefined
  readonly preload_libraries?:
    | {
        readonly use_defaults?: boolean | undefined
        readonly enabled_libraries?: readonly string[] | undefined
        readonly [other: string]: unknown
      }
    | undefined
  readonly [other: string]: unknown
}

/** What is live, as far as a request for a change depends on it. */
export interface LiveValues {
  readonly attributes: ComputeAttributes
  /** As the API showed them, with the parts that no manifest can declare. */
  readonly settings?: WireSettings | undefined
}

export interface AttributeRow<K extends AttributeKey = AttributeKey> {
  readonly key: K
  /** Dotted path under the compute in a manifest. */
  readonly path: string
  readonly apiFields: readonly string[]
  readonly reason: Reason
  /** Where the impact comes from. */
  readonly rule: string
  /** Impact of going from `before` to `after` on a compute that is not idle. */
  impact(before: ComputeAttributes[K], after: NonNullable<ComputeAttributes[K]>): Impact
  /** Whether the observed value already is what the desired one asks for. */
  satisfied(desired: NonNullable<ComputeAttributes[K]>, observed: ComputeAttributes[K]): boolean
  fromWire(wire: WireAttributes): ComputeAttributes[K] | undefined
  /** The part of a request body that asks for `desired`, given what is live; of `settings` what changes only. */
  toWire(desired: NonNullable<ComputeAttributes[K]>, live: ComputeAttributes): WireAttributes
  format(value: NonNullable<ComputeAttributes[K]>): string
}

const row = <K extends AttributeKey>(definition: AttributeRow<K>): AttributeRow<K> => definition

const LIVE = (): Impact => 'none'
const same = <T>(desired: T, observed: T | undefined): boolean => desired === observed

/** Sorted, so that the same request has the same bytes however the API lists the map. */
const sorted = <T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Of a snapshot that was saved before it kept them whole. */
const settingsOf = ({ postgresSettings, postgresPreload }: ComputeAttributes): WireSettings => ({
  ...(postgresSettings === undefined ? {} : { pg_settings: postgresSettings }),
  ...(postgresPreload === undefined ? {} : { preload_libraries: { enabled_libraries: postgresPreload } }),
})

const mergedSettings = (live: WireSettings, changes: WireSettings): WireSettings => ({
  ...sorted(live),
  ...(live.pg_settings === undefined && changes.pg_settings === undefined
    ? {}
    : { pg_settings: sorted({ ...live.pg_settings, ...changes.pg_settings }) }),
  ...(changes.preload_libraries === undefined
    ? {}
    : { preload_libraries: { ...live.preload_libraries, ...changes.preload_libraries } }),
})

const sameMembers = (a: readonly string[], b: readonly string[]): boolean =>
  new Set(a).size === new Set(b).size && a.every((member) => b.includes(member))

export const ATTRIBUTES = {
  name: row<'name'>({
    key: 'name',
    path: 'name',
    apiFields: ['name'],
    reason: 'NAME_DIFFERS',
    rule: 'a label: no restart is documented',
    impact: LIVE,
    satisfied: same,
    fromWire: (wire) => wire.name,
    toWire: (name) => ({ name }),
    format: (name) => name,
  }),
  size: row<'size'>({
    key: 'size',
    path: 'size',
    apiFields: ['autoscaling_limit_min_cu', 'autoscaling_limit_max_cu'],
    reason: 'SIZE_DIFFERS',
    rule: 'spec 3.2, rules 1 and 2: a change of size or of a limit restarts the compute',
    impact: () => 'restart',
    satisfied: (desired, observed) => desired.min === observed?.min && desired.max === observed?.max,
    fromWire: ({ autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max }) =>
      min === undefined || max === undefined ? undefined : { min, max },
    toWire: (size, live) => ({
      ...(size.min === live.size?.min ? {} : { autoscaling_limit_min_cu: size.min }),
      ...(size.max === live.size?.max ? {} : { autoscaling_limit_max_cu: size.max }),
    }),
    format: formatSize,
  }),
  scaleToZero: row<'scaleToZero'>({
    key: 'scaleToZero',
    path: 'scaleToZero',
    apiFields: ['suspend_timeout_seconds'],
    reason: 'SCALE_TO_ZERO_DIFFERS',
    rule: "the service's public OpenAPI: applied live, no restart is documented",
    impact: LIVE,
    satisfied: (desired, observed) => observed !== undefined && sameScaleToZero(desired, observed),
    fromWire: (wire) => wire.suspend_timeout_seconds,
    toWire: (seconds) => ({ suspend_timeout_seconds: seconds }),
    format: formatScaleToZero,
  }),
  disabled: row<'disabled'>({
    key: 'disabled',
    path: 'disabled',
    apiFields: ['disabled'],
    reason: 'DISABLED_DIFFERS',
    rule: "the service's public OpenAPI: disabling a compute suspends it",
    impact: (_before, disabled) => (disabled ? 'disconnect' : 'none'),
    satisfied: (desired, observed) => desired === (observed ?? false),
    fromWire: (wire) => wire.disabled,
    toWire: (disabled) => ({ disabled }),
    format: String,
  }),
  poolerEnabled: row<'poolerEnabled'>({
    key: 'poolerEnabled',
    path: 'pooler.enabled',
    apiFields: ['pooler_enabled'],
    reason: 'POOLER_DIFFERS',
    rule: "the service's public OpenAPI: the field is inert, pooling is chosen by the host name",
    impact: LIVE,
    satisfied: same,
    fromWire: (wire) => wire.pooler_enabled,
    toWire: (enabled) => ({ pooler_enabled: enabled }),
    format: String,
  }),
  poolerMode: row<'poolerMode'>({
    key: 'poolerMode',
    path: 'pooler.mode',
    apiFields: ['pooler_mode'],
    reason: 'POOLER_DIFFERS',
    rule: "the service's public OpenAPI: the field is inert",
    impact: LIVE,
    satisfied: same,
    fromWire: (wire) => wire.pooler_mode,
    toWire: (mode) => ({ pooler_mode: mode }),
    format: (mode) => mode,
  }),
  passwordlessAccess: row<'passwordlessAccess'>({
    key: 'passwordlessAccess',
    path: 'passwordlessAccess',
    apiFields: ['passwordless_access'],
    reason: 'PASSWORDLESS_DIFFERS',
    rule: 'no effect is documented, so it counts as one that may restart',
    impact: () => 'may-restart',
    satisfied: same,
    fromWire: (wire) => wire.passwordless_access,
    toWire: (enabled) => ({ passwordless_access: enabled }),
    format: String,
  }),
  postgresSettings: row<'postgresSettings'>({
    key: 'postgresSettings',
    path: 'postgres.settings',
    apiFields: ['settings.pg_settings'],
    reason: 'SETTINGS_DIFFER',
    rule: 'only some Postgres settings can be reloaded, the others need a restart',
    impact: () => 'may-restart',
    satisfied: (desired, observed) => Object.entries(desired).every(([name, value]) => observed?.[name] === value),
    fromWire: (wire) => (wire.settings === undefined ? undefined : (wire.settings.pg_settings ?? {})),
    toWire: (settings) => ({ settings: { pg_settings: settings } }),
    format: (settings) =>
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}`)
        .join(', '),
  }),
  postgresPreload: row<'postgresPreload'>({
    key: 'postgresPreload',
    path: 'postgres.preload',
    apiFields: ['settings.preload_libraries'],
    reason: 'PRELOAD_DIFFERS',
    rule: "the service's public OpenAPI: preloaded libraries are activated by a restart",
    impact: () => 'restart',
    satisfied: (desired, observed) => sameMembers(desired, observed ?? []),
    fromWire: (wire) => wire.settings?.preload_libraries?.enabled_libraries,
    toWire: (libraries) => ({ settings: { preload_libraries: { enabled_libraries: libraries } } }),
    format: (libraries) => (libraries.length === 0 ? '(none)' : libraries.join(', ')),
  }),
} as const satisfies { readonly [K in AttributeKey]-?: AttributeRow<K> }

/** In the order in which people read them. */
export const ATTRIBUTE_KEYS = Object.keys(ATTRIBUTES) as readonly AttributeKey[]

/** Every attribute that an endpoint of the API shows. */
export const attributesFromWire = (wire: WireAttributes): ComputeAttributes =>
  Object.fromEntries(
    ATTRIBUTE_KEYS.map((key) => [key, ATTRIBUTES[key].fromWire(wire)]).filter(([, value]) => value !== undefined),
  )

/** The keys whose desired value the observed attributes do not satisfy. */
export const differingKeys = (desired: ComputeAttributes, observed: ComputeAttributes): readonly AttributeKey[] =>
  ATTRIBUTE_KEYS.filter((key) => {
    const value = desired[key]
    return value !== undefined && !rowOf(key).satisfied(value, observed[key])
  })

/** The request attributes that bring `live` to `desired` in those keys, `settings` merged. */
export const attributesToWire = (
  desired: ComputeAttributes,
  keys: readonly AttributeKey[],
  live: LiveValues = { attributes: {} },
): WireAttributes => {
  const parts = keys.flatMap((key) => {
    const value = desired[key]
    return value === undefined ? [] : [rowOf(key).toWire(value, live.attributes)]
  })
  const changed = parts.map(({ settings }) => settings).filter((part) => part !== undefined)
  return {
    ...Object.assign({}, ...parts),
    ...(changed.length === 0
      ? {}
      : { settings: changed.reduce(mergedSettings, live.settings ?? settingsOf(live.attributes)) }),
  }
}

/** A row whose value types are erased: for code that goes over all of them. */
export type AnyAttributeRow = Omit<AttributeRow, 'impact' | 'satisfied' | 'toWire' | 'format'> & {
  impact(before: unknown, after: unknown): Impact
  satisfied(desired: unknown, observed: unknown): boolean
  toWire(desired: unknown, live: ComputeAttributes): WireAttributes
  format(value: unknown): string
}

export const rowOf = (key: AttributeKey): AnyAttributeRow => ATTRIBUTES[key] as unknown as AnyAttributeRow
