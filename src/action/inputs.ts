/** Reads the inputs of the step. */
import { type Consent, EspalierError, MAX_SHARDS, parseShard, plainText, type Shard } from '../model/index.ts'
import { allowed } from '../workflow/index.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export const COMMANDS = ['validate', 'plan', 'apply', 'merge', 'import'] as const
export const COMMENTS = ['auto', 'always', 'never'] as const
/** `edit`: edits the comment. `recreate`: deletes it and adds a new one. `minimize`: folds it and adds a new one. */
export const COMMENT_MODES = ['edit', 'recreate', 'minimize'] as const
export const FAIL_ON = ['error', 'changes', 'restarts', 'deletes', 'policies', 'cost'] as const

export interface Inputs {
  readonly command: (typeof COMMANDS)[number]
  readonly paths: readonly string[]
  /** Distinguishes this plan from others of the same pull request; empty if its paths are enough. */
  readonly label: string
  /** This job's part of a fleet. */
  readonly shard?: Shard
  /** Globs for ids and names of projects to select. */
  readonly project: readonly string[]
  /** The pull request whose merge is checked out, if the event is another one. */
  readonly pullRequest?: number
  readonly apiKey: string
  readonly baseUrl: string
  readonly githubToken: string
  readonly comment: (typeof COMMENTS)[number]
  readonly commentMode: (typeof COMMENT_MODES)[number]
  /** Labels to set by what the plan does; empty for none. */
  readonly labels: { readonly restart: string; readonly delete: string; readonly none: string }
  readonly checkRun: boolean
  /** More values to hide everywhere. */
  readonly masks: readonly string[]
  readonly failOn: readonly (typeof FAIL_ON)[number][]
  readonly allow: ReadonlySet<Consent>
  readonly now: boolean
  readonly keepGoing: boolean
  /** Plan and apply only what the merged pull request showed. */
  readonly requireReviewed: boolean
  readonly planFile: string
  readonly workingDirectory: string
  readonly sandbox: string
  readonly maxRestarts?: number
  readonly maxDeletes?: number
  readonly maxCuIncrease?: number
  readonly maxCuHoursIncrease?: number
  readonly price?: string
  readonly tier?: string
  /** Policy files. */
  readonly policy: readonly string[]
  /** `NAME=REASON` */
  readonly override: readonly string[]
  /** CU-hours a month; smaller changes are not shown in the comment. */
  readonly costThreshold?: number
}

/** @throws {EspalierError} `E_INPUT` or `E_USAGE` */
export const readInputs = (env: Environment): Inputs => ({
  command: oneOf('command', COMMANDS, text(env, 'command') || 'plan'),
  paths: words(text(env, 'paths')),
  label: labelOf(text(env, 'label')),
  ...shardOf(text(env, 'shard')),
  project: words(text(env, 'project')),
  ...number(env, 'pull-request', 'pullRequest'),
  apiKey: text(env, 'api-key'),
  baseUrl: text(env, 'base-url'),
  githubToken: text(env, 'github-token'),
  comment: oneOf('comment', COMMENTS, text(env, 'comment') || 'auto'),
  commentMode: oneOf('comment-mode', COMMENT_MODES, text(env, 'comment-mode') || 'edit'),
  labels: {
    restart: text(env, 'label-restart'),
    delete: text(env, 'label-delete'),
    none: text(env, 'label-none'),
  },
  checkRun: flag(env, 'check-run'),
  masks: checkedMasks(masksOf(env)),
  failOn: (text(env, 'fail-on') || 'error').split(',').map((word) => oneOf('fail-on', FAIL_ON, word.trim())),
  allow: allowed([text(env, 'allow')], 'allow'),
  now: flag(env, 'now'),
  keepGoing: flag(env, 'keep-going'),
  requireReviewed: flag(env, 'require-reviewed'),
  planFile: text(env, 'plan-file'),
  workingDirectory: text(env, 'working-directory') || '.',
  sandbox: text(env, 'sandbox'),
  ...number(env, 'max-restarts', 'maxRestarts'),
  ...number(env, 'max-deletes', 'maxDeletes'),
  ...number(env, 'max-cu-increase', 'maxCuIncrease'),
  ...number(env, 'max-cu-hours-increase', 'maxCuHoursIncrease'),
  ...optional('price', text(env, 'price')),
  ...optional('tier', text(env, 'tier')),
  policy: words(text(env, 'policy')),
  override: text(env, 'override')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== ''),
  ...number(env, 'cost-threshold', 'costThreshold'),
})

const DESCRIBING = [
  'masks',
  'pull-request',
  'paths',
  'label',
  'shard',
  'project',
  'base-url',
  'github-token',
  'plan-file',
  'working-directory',
] as const

/**
 * Only the inputs that identify this step's comment, for when another input is invalid.
 *
 * @throws {EspalierError} if one of these is invalid too.
 */
export const readDescribingInputs = (env: Environment): Inputs => {
  const given = DESCRIBING.map((name) => [name, text(env, name)] as const)
  const words = [
    ['command', COMMANDS],
    ['comment', COMMENTS],
  ] as const
  const valid = words.flatMap(([name, known]) => {
    const word = text(env, name)
    return known.some((one) => one === word) ? [[name, word] as const] : []
  })
  return readInputs(
    Object.fromEntries([...given, ...valid].map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
  )
}

/** Values to mask in logs, even if other inputs are invalid. */
export const secretsOf = (env: Environment): readonly string[] =>
  [text(env, 'api-key'), text(env, 'github-token'), ...masksOf(env)].filter((secret) => secret !== '')

const masksOf = (env: Environment): readonly string[] =>
  text(env, 'masks')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** A shorter text would match everywhere. */
const SHORTEST_MASK = 3

const checkedMasks = (masks: readonly string[]): readonly string[] => {
  const short = masks.findIndex((mask) => mask.length < SHORTEST_MASK)
  if (short < 0) return masks
  throw new EspalierError('E_INPUT', `Line ${short + 1} of the input masks is too short.`, {
    hint: `A value takes at least ${SHORTEST_MASK} characters, one on each line.`,
  })
}

/** Removes the values of the input `masks`. */
export const masked = ({ masks }: Pick<Inputs, 'masks'>, markdown: string): string => {
  // The longest first, since one may contain another. Also in the form that Markdown output uses.
  const shown = masks.flatMap((mask) => [mask, plainText(mask).replaceAll('|', '\\u{7c}')])
  const sorted = [...new Set(shown)].toSorted((a, b) => b.length - a.length)
  return sorted.reduce((rest, mask) => rest.replaceAll(mask, '***'), markdown)
}

/** The label becomes part of file names. */
const labelOf = (given: string): string => {
  if (/^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$/.test(given)) return given
  throw new EspalierError('E_INPUT', `The input label cannot be "${given}".`, {
    hint: 'It takes up to 64 letters, digits, dots, underscores and hyphens, and begins with a letter or digit.',
  })
}

const shardOf = (given: string): { readonly shard?: Shard } => {
  if (given === '') return {}
  const shard = parseShard(given)
  if (shard !== undefined) return { shard }
  throw new EspalierError('E_INPUT', `The input shard cannot be "${given}".`, {
    hint: `Write 2/4 for the second of four; at most ${MAX_SHARDS}.`,
  })
}

/** The runner upper-cases names and keeps hyphens; some alternative runners do not keep them. */
const text = (env: Environment, name: string): string => {
  const upper = name.toUpperCase()
  return (env[`INPUT_${upper}`] ?? env[`INPUT_${upper.replaceAll('-', '_')}`] ?? '').trim()
}

const words = (given: string): readonly string[] => given.split(/\s+/).filter((word) => word !== '')

const optional = <K extends string>(key: K, given: string): Partial<Record<K, string>> =>
  given === '' ? {} : ({ [key]: given } as Record<K, string>)

const oneOf = <T extends string>(name: string, words: readonly T[], given: string): T => {
  const found = words.find((word) => word === given)
  if (found !== undefined) return found
  throw new EspalierError('E_INPUT', `The input ${name} cannot be "${given}".`, {
    hint: `It takes ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`,
  })
}

const flag = (env: Environment, name: string): boolean =>
  oneOf(name, ['true', 'false'], text(env, name) || 'false') === 'true'

const number = <K extends string>(env: Environment, name: string, key: K): Partial<Record<K, number>> => {
  const given = text(env, name)
  if (given === '') return {}
  const value = Number(given)
  if (Number.isFinite(value) && value >= 0) return { [key]: value } as Record<K, number>
  throw new EspalierError('E_INPUT', `The input ${name} cannot be "${given}".`, {
    hint: 'It takes a number of at least 0.',
  })
}
