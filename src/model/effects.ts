/**
 * What is different for the users of a compute after a change. Each row of the table says which attributes it follows
 * from, its words, when a reviewer is warned, and where the rule comes from.
 */
import { group, groupBy } from '../base/index.ts'
import { type AttributeValue, keysOfPath, RESTART_ONLY_SETTINGS } from './attributes/index.ts'
import type { ComputeSettings } from './compute-settings.ts'
import { type Diagnostic, warning } from './diagnostic.ts'
import type { DiagnosticCode } from './generated/diagnostic-code.ts'
import { type AttributeChange, type Change, EFFECT_KINDS, type Effect, type EffectKind } from './plan.ts'
import { formatScaleToZero, neverSleeps, sleepSeconds } from './scale-to-zero.ts'
import {
  cacheGb,
  hasUnlistedConnections,
  isFixed,
  isShared,
  maxConnections,
  type Size,
  temporaryDiskGib,
} from './size.ts'

/** A change, with what it does to the compute. */
export interface AffectedCompute {
  readonly change: Omit<Change, 'effects'>
  /** `undefined`: the compute does not exist. */
  readonly before: ComputeSettings | undefined
  readonly after: ComputeSettings | undefined
  /** Whether the compute is, or will be, on the default branch or on one that the service or a manifest protects. */
  readonly isImportant: boolean
  /** Whether the compute is the primary of the default branch before the change. */
  readonly isDefaultPrimary: boolean
}

type Pair<V> = readonly [before: V | undefined, after: V | undefined]

interface EffectRow<V extends AttributeValue> {
  /** Paths of the attributes that the effect depends on. */
  readonly paths: readonly string[]
  /** Explains the effect, with the source of the rule. */
  readonly rule: string
  readonly when: Effect['when']
  /** The values before and after the change. `undefined` if unknown, or if the compute does not exist. */
  of(compute: AffectedCompute): Pair<V>
  /** How the change is shown. */
  phrase(before: V, after: V, change: Pick<Change, 'branch' | 'from' | 'after' | 'kind'>): string
  /** Whether users lose something. */
  worsens(before: V, after: V): boolean
  /** When a change for the worse is a warning. Absent: never. */
  readonly warning?: {
    readonly code: DiagnosticCode
    readonly hint: string
    isFor(compute: AffectedCompute): boolean
  }
}

const row = <V extends AttributeValue>(one: EffectRow<V>): EffectRow<AttributeValue> => one

const ofSettings =
  <V>(read: (settings: ComputeSettings) => V | undefined) =>
  ({ before, after }: AffectedCompute): Pair<V> => [before && read(before), after && read(after)]

const ofSize = <V>(read: (size: Size) => V) => ofSettings(({ size }) => size && read(size))

const always = (): boolean => true
const onImportantBranch = ({ isImportant }: AffectedCompute): boolean => isImportant
const isSmaller = (before: number, after: number): boolean => after < before

/** Whether a compute starts to sleep, or sleeps earlier than before. `false`: it is always active. */
const isSooner = (before: number | false, after: number | false): boolean =>
  after !== false && (before === false || after < before)

/** `max_connections` in the size table, or at least 4000. */
type Connections = number | '4000+'

const connectionsWords = (value: Connections): string =>
  value === '4000+' ? '4,000 or more (not in the size table)' : group(value)

const atLeast = (value: Connections): number => (value === '4000+' ? 4_000 : value)

const NOTHING_LOST = (): boolean => false

const ROWS: Readonly<Record<EffectKind, EffectRow<AttributeValue>>> = {
  'default-branch': row<boolean>({
    paths: ['disabled'],
    rule: 'Every project has a default branch with a primary (API reference).',
    when: 'now',
    of: ({ isDefaultPrimary, change: { kind }, before, after }): Pair<boolean> => {
      const stays = (kind === 'update' || kind === 'create') && (after?.disabled !== true || before?.disabled === true)
      return [isDefaultPrimary, isDefaultPrimary && stays]
    },
    phrase: (_before, _after, { branch, from, kind }) => {
      // A replacement may be on another branch, and does not name the one of the primary.
      if (kind === 'replace') return 'the primary of the default branch is replaced by a replica'
      const fate = kind === 'move' ? `moved to ${branch.name}` : kind === 'delete' ? 'deleted' : 'disabled'
      return `${(from ?? branch).name} is the default branch, and its primary is ${fate}`
    },
    worsens: always,
    warning: {
      code: 'W_DEFAULT_BRANCH',
      hint: 'Check that nothing needs to connect to the default branch.',
      isFor: always,
    },
  }),
  disabled: row<boolean>({
    paths: ['disabled'],
    rule: "A disabled compute cannot be started by a connection or from the console (the service's public OpenAPI).",
    when: 'later',
    of: ofSettings(({ disabled }) => disabled),
    phrase: (_before, after) => (after ? 'later: no connection can start it' : 'connections can start it again'),
    worsens: (_before, after) => after,
    warning: { code: 'W_DISABLED', hint: 'Check that no application needs to connect.', isFor: onImportantBranch },
  }),
  sleep: row<number | false>({
    paths: ['scaleToZero', 'size'],
    rule: 'A compute of up to 16 CU is suspended after a period of inactivity, unless `scaleToZero` is `never`. The next connection starts it (API reference).',
    when: 'later',
    // `false`: always active.
    of: ofSettings((settings): number | false | undefined => (neverSleeps(settings) ? false : sleepSeconds(settings))),
    phrase: (before, after) => {
      if (after === false) return 'always active'
      const words = `later: suspends after ${formatScaleToZero(after)} without activity`
      return isSooner(before, after) ? `${words}; idle sessions end, the next connection waits a few hundred ms` : words
    },
    worsens: (before, after) => isSooner(before, after),
    warning: {
      code: 'W_SLEEPS',
      hint: 'Check that its clients reconnect, and that they can wait for it to start.',
      isFor: onImportantBranch,
    },
  }),
  'max-connections': row<Connections>({
    paths: ['size'],
    rule: 'The size table gives max_connections for the maximum size or 8 times the minimum, whichever is smaller (API reference, and "Postgres compatibility" in the service docs). Above 38 CU, it is at least 4,000.',
    when: 'now',
    of: ofSize((size): Connections => (hasUnlistedConnections(size) ? '4000+' : maxConnections(size))),
    phrase: (before, after) => `max_connections ${connectionsWords(before)} → ${connectionsWords(after)}`,
    worsens: (before, after) => isSmaller(atLeast(before), atLeast(after)),
    warning: {
      code: 'W_SHRINKS',
      hint: 'Clients that need more connections can use the pooled host, which accepts up to 10,000.',
      isFor: always,
    },
  }),
  cache: row<Size>({
    paths: ['size'],
    rule: 'The local file cache uses at most 75% of RAM. With autoscaling, it never shrinks below the cache of the minimum size (API reference).',
    when: 'now',
    of: ofSize(({ min, max }): Size => ({ min: cacheGb(min), max: cacheGb(max) })),
    phrase: (before, after) => {
      const isRange = !isFixed(before) || !isFixed(after)
      return [
        ...(before.max === after.max ? [] : [`cache up to ${before.max} → ${after.max} GB`]),
        ...(before.min === after.min || !isRange ? [] : [`cache at least ${before.min} → ${after.min} GB`]),
      ].join(', ')
    },
    worsens: (before, after) => isSmaller(before.max, after.max) || isSmaller(before.min, after.min),
    warning: {
      code: 'W_SHRINKS',
      hint: 'Check that less cache is enough for the data that is in use.',
      isFor: onImportantBranch,
    },
  }),
  'temporary-disk': row<number>({
    paths: ['size'],
    rule: 'The local disk for temporary files has 15 GiB per CU of the maximum size, and at least 20 GiB (API reference).',
    when: 'now',
    of: ofSize(temporaryDiskGib),
    phrase: (before, after) => `temp disk ${group(before)} → ${group(after)} GiB`,
    worsens: isSmaller,
    warning: {
      code: 'W_SHRINKS',
      hint: 'A query that fills the temporary disk fails with `No space left on device` (SQLSTATE 53100): end long-running queries, let queries write fewer temporary files, or adjust replication pipelines.',
      isFor: always,
    },
  }),
  'shared-compute': row<boolean>({
    paths: ['size'],
    rule: 'The sizes 0.25 and 0.5 CU are shared compute (API reference).',
    when: 'now',
    of: ofSize(isShared),
    phrase: (_before, after, change) => {
      if (!after) return 'no longer shared compute'
      const size = change.after?.size
      return size === undefined
        ? 'shared compute'
        : `shared compute at ${isFixed(size) ? '' : 'its minimum of '}${size.min} CU`
    },
    worsens: (_before, after) => after,
    warning: {
      code: 'W_SHRINKS',
      hint: 'Check that shared compute is enough for this branch.',
      isFor: ({ isImportant, change }) => isImportant && change.compute.type === 'read_write',
    },
  }),
  autoscaling: row<boolean>({
    paths: ['size'],
    rule: 'A compute with a minimum below its maximum is resized automatically, without a restart (API reference).',
    when: 'now',
    of: ofSize((size) => !isFixed(size)),
    phrase: (_before, after, change) => {
      const size = change.after?.size
      const from = size === undefined ? '' : ` from ${size.min} CU`
      return after ? `autoscales${from}` : 'no longer autoscales'
    },
    // A lower minimum is a smaller cache.
    worsens: NOTHING_LOST,
  }),
  'next-restart': row<readonly string[]>({
    paths: ['postgres.settings'],
    rule: 'Postgres reads some settings only when it starts (Postgres documentation, "Setting Parameters").',
    when: 'later',
    of: ({ change: { impact, attributes } }): Pair<readonly string[]> => {
      if (impact !== 'may-restart') return [[], []]
      const settings = attributes.flatMap(({ path }) => keysOfPath(path).at(2) ?? [])
      return [[], settings.filter((name) => RESTART_ONLY_SETTINGS.has(name.toLowerCase()))]
    },
    phrase: (_before, after) => `${after.join(', ')}: effective after the next restart`,
    worsens: NOTHING_LOST,
  }),
}

/** The effects of a change. An effect whose value is the same as before, or unknown, is left out. */
export const effectsOf = (compute: AffectedCompute): readonly Effect[] =>
  EFFECT_KINDS.flatMap((kind): readonly Effect[] => {
    const { of, when, worsens, warning } = ROWS[kind]
    const [before, after] = of(compute)
    if (before === undefined || after === undefined || isSame(before, after)) return []
    const warns = warning?.isFor(compute) === true && worsens(before, after)
    return [{ kind, before, after, when, ...(warns && { warns }) }]
  })

const isSame = (a: AttributeValue, b: AttributeValue): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The effect in words: `temp disk 600 → 20 GiB`. */
export const effectWords = ({ kind, before, after }: Effect, change: Change): string =>
  ROWS[kind].phrase(before, after, change)

/** Whether the effect interrupts users later, so that a change that interrupts no one does so only for now. */
export const interruptsLater = ({ kind, before, after, when }: Effect): boolean =>
  when === 'later' && ROWS[kind].worsens(before, after)

/** The effects that follow from these attributes of the change. */
export const effectsFrom = ({ effects }: Change, attributes: readonly AttributeChange[]): readonly Effect[] =>
  effects.filter(({ kind }) =>
    attributes.some(({ path }) => ROWS[kind].paths.some((from) => path === from || path.startsWith(`${from}.`))),
  )

/** One warning for each code that the effects of a change have. */
export const effectWarnings = (change: Change): readonly Diagnostic[] => {
  const { compute, from, branch, project, source } = change
  const found = change.effects.flatMap((effect) => {
    const { warning } = ROWS[effect.kind]
    return effect.warns === undefined || warning === undefined
      ? []
      : [{ ...warning, words: effectWords(effect, change) }]
  })
  return [...groupBy(found, ({ code }) => code)].map(([code, own]) => {
    const words = own.map((one) => one.words).join(', ')
    const message = `${compute.id} on branch \`${(from ?? branch).name}\` of project \`${project}\`: ${words}.`
    return warning(code, message, own.map(({ hint }) => hint).join(' '), source)
  })
}

/** The rule of each effect, by kind. */
export const EFFECT_RULES: Readonly<Record<EffectKind, string>> = Object.fromEntries(
  EFFECT_KINDS.map((kind) => [kind, ROWS[kind].rule]),
) as Record<EffectKind, string>

const WARNINGS = EFFECT_KINDS.flatMap((kind) => ROWS[kind].warning ?? [])

/** What to check, by the code of the warning. */
export const EFFECT_HINTS: ReadonlyMap<string, readonly string[]> = new Map(
  [...groupBy(WARNINGS, ({ code }) => code)].map(([code, own]) => [code, own.map(({ hint }) => hint)]),
)
