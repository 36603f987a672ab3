/** Flags that several commands share. */
import { DEFAULT_CONCURRENCY, EspalierError, MAX_SHARDS, parseShard, type Shard, TIER_NAMES } from '../model/index.ts'
import { type FlagValues, number, text, toggle } from './flag.ts'

export const COMMON_FLAGS = {
  'no-color': toggle('Output:', 'Disable colours'),
  debug: toggle('Output:', 'Show requests (without the key) and stack traces of bugs on stderr'),
} as const

export const MANIFEST_FLAGS = {
  'size-table': text('Manifests:', 'JSON file with compute sizes to use instead of the built-in table'),
} as const

/** How to show a plan on a terminal. */
export const PLAN_VIEW_FLAGS = {
  compact: toggle('Output:', 'Show one line per change (default above 12 changes)'),
  detail: toggle('Output:', 'Show every attribute of each change'),
  steps: toggle('Output:', 'Show the order of steps'),
} as const

export type PlanViewFlags = FlagValues<typeof PLAN_VIEW_FLAGS>

export const planViewOf = ({ compact, detail, steps }: PlanViewFlags) => ({
  view: compact === true ? ('compact' as const) : detail === true ? ('detail' as const) : undefined,
  steps,
})

/** For all commands that read manifests. */
export const PATHS = {
  paths: {
    describe: 'Files, directories, globs, or - for stdin (default: espalier.yaml, else espalier/)',
    array: true,
  },
} as const

export const SELECTION_FLAGS = {
  project: text('Manifests:', 'Only projects whose id or name matches this glob; repeatable', { array: true }),
  branch: text('Manifests:', 'Only branches whose name or id matches this glob; repeatable', { array: true }),
} as const

type SelectionFlags = FlagValues<typeof SELECTION_FLAGS> & { readonly wave?: string | undefined }

/** For cost, account limits and policies. */
export const REVIEW_FLAGS = {
  price: text('Review:', 'Price per CU-hour, such as 0.222USD, to show costs in that currency'),
  tier: text('Review:', `Check the limits of this account plan: ${TIER_NAMES}, or none (default: the account's own)`),
  'tier-table': text('Review:', 'File with account plan limits to use instead of the built-in table'),
  policy: text('Review:', 'Policy file, in addition to espalier.policy.yaml; repeatable', { array: true }),
  override: text('Review:', 'Allow what a policy denies: NAME=REASON; repeatable', { array: true }),
  'no-project': toggle(
    'Control API:',
    'Do not read project settings (saves a request per project); limits, maintenance and most of the cost are then unknown',
  ),
} as const

/** For `plan` and `apply`: which manifests and projects to use, and the checks to apply. */
export const PLANNING_FLAGS = {
  ...REVIEW_FLAGS,
  ...MANIFEST_FLAGS,
  ...SELECTION_FLAGS,
  wave: text('Manifests:', 'Only the projects of this wave'),
  only: text('Manifests:', 'With --base: only changes introduced since that ref; drift is left alone', {
    choices: ['introduced'],
  }),
  shard: text(
    'Manifests:',
    'Split the projects into N parts and use only part I: I/N; each run uses 1/N of the request limit',
  ),
} as const

/** Absolute limits of a run; for the agent, of each project in 24 hours. */
export const BUDGET_FLAGS = {
  'max-restarts': number('Consent:', 'Reject a plan that restarts more computes than this'),
  'max-deletes': number('Consent:', 'Reject a plan that deletes more computes than this'),
  'max-cu-increase': number('Consent:', 'Reject a plan that raises the sum of maximum sizes by more CU than this', {
    isFractional: true,
  }),
  'max-cu-hours-increase': number('Consent:', 'Reject a plan that adds more CU-hours per month than this', {
    isFractional: true,
  }),
} as const

/** The range of `--time-scale`. */
export const TIME_SCALE = { min: 0.001, isFractional: true } as const

/** How to reach the control API or the sandbox. */
export const CONNECTION_FLAGS = {
  'base-url': text('Control API:', 'Root of the control API (default: ESPALIER_BASE_URL, else the public one)'),
  'api-key-file': text('Control API:', 'Read the API key from this file instead of ESPALIER_API_KEY or NEON_API_KEY'),
  sandbox: {
    type: 'string',
    group: 'Sandbox:',
    describe: 'Use an embedded control plane with its state in DIR: --sandbox[=DIR] (default .espalier/sandbox)',
  },
  seed: text('Sandbox:', 'File with the initial state of a new sandbox'),
  'time-scale': number('Sandbox:', 'How many times faster than real time the sandbox runs', TIME_SCALE),
} as const

/** For commands that use several projects. */
export const API_FLAGS = {
  ...CONNECTION_FLAGS,
  concurrency: number('Control API:', 'How many projects to process concurrently', {
    min: 1,
    default: DEFAULT_CONCURRENCY,
  }),
} as const

export type ApiFlags = FlagValues<typeof CONNECTION_FLAGS & typeof COMMON_FLAGS> & {
  /** How many runs share the account's request limit. Default 1. */
  readonly runs?: number | undefined
}

export const EXIT_ERROR = '1   wrong input, wrong usage, or an error before anything changed'

export const usageError = (message: string, hint?: string): EspalierError =>
  new EspalierError('E_USAGE', message, { hint })

/** The selection of `plan` and `apply`. @throws {EspalierError} `E_USAGE` if `--only` lacks `--base`. */
export const selectionOf = (
  flags: SelectionFlags & { readonly base?: string | undefined; readonly only?: string | undefined },
) => {
  if (flags.only !== undefined && flags.base === undefined) {
    throw usageError('--only introduced needs --base REF.', 'For example: --base origin/main --only introduced')
  }
  return {
    projects: flags.project,
    branches: flags.branch,
    wave: flags.wave,
    introducedSince: flags.only === undefined ? undefined : flags.base,
  }
}

/** @throws {EspalierError} `E_USAGE` if `text` is not a valid shard. */
export const shardOfFlag = (text: string | undefined): Shard | undefined => {
  if (text === undefined) return undefined
  const shard = parseShard(text)
  if (shard !== undefined) return shard
  throw usageError(`--shard ${text} is not a valid shard.`, `Write 2/5 for the second of five; at most ${MAX_SHARDS}.`)
}
