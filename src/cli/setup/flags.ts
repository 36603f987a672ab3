/** Flags that several commands share. */

import type { Options } from 'yargs'
import { EspalierError } from '../../base/index.ts'

// Defines flags for yargs, and derives the types of the values that they have.

export interface Flag extends Options {
  /** What stands for the value in the help. */
  readonly value?: string
  /** Whether the value is a duration, which users write as `10m` and commands receive in milliseconds. */
  readonly isDuration?: boolean
  /** The smallest number allowed. Default: 0. */
  readonly min?: number
  readonly max?: number
  /** Whether fractions are accepted too. */
  readonly isFractional?: boolean
}

export type Flags = Readonly<Record<string, Flag>>

/** @param group the heading under which the help lists the flag. If empty, this is the general heading. */
export const toggle = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'boolean', group, describe, ...(more as More) }) as const

export const text = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'string', requiresArg: true, group, describe, ...(more as More) }) as const

export const number = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'number', requiresArg: true, group, describe, ...(more as More) }) as const

export const duration = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ ...text(group, describe, more), isDuration: true }) as const

/** How the help writes the value of a flag, such as `FILE` or `terminal|json`. `undefined` if the flag has none. */
export const valueNameOf = ({ type, value, choices, isDuration }: Flag): string | undefined => {
  if (type === 'boolean') return undefined
  return value ?? choices?.join('|') ?? (isDuration === true ? 'TIME' : type === 'number' ? 'N' : 'VALUE')
}

type CamelCase<S extends string> = S extends `${infer Head}-${infer Rest}` ? `${Head}${Capitalize<CamelCase<Rest>>}` : S

type ValueOf<O extends Options> = O extends { array: true }
  ? readonly string[]
  : O extends { choices: readonly (infer Choice)[] }
    ? Choice
    : O extends { isDuration: true }
      ? number
      : { boolean: boolean; number: number; string: string }[O['type'] & ('boolean' | 'number' | 'string')]

type AlwaysSet = { readonly default: unknown } | { readonly demandOption: true }

/** The values of flags, by their name in camel case. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F & string as F[K] extends AlwaysSet ? CamelCase<K> : never]: ValueOf<F[K]>
} & {
  readonly [K in keyof F & string as F[K] extends AlwaysSet ? never : CamelCase<K>]?: ValueOf<F[K]> | undefined
}

/** The heading under which the help lists the flags of nearly all commands. */
export const COMMON_GROUP = 'Common flags:'

export const COMMON_FLAGS = {
  'no-color': toggle(COMMON_GROUP, 'Disable colours'),
  debug: toggle(COMMON_GROUP, 'Log requests (without the API key) and stack traces of internal errors to stderr'),
} as const

/** Flags that decide how to show a plan on a terminal. */
export const PLAN_VIEW_FLAGS = {
  detail: toggle('Output:', 'Show all details: manifest lines, capacity, durations and the order of steps'),
} as const

export const HTML_FLAG = { html: text('Output:', 'Also write an HTML page to FILE', { value: 'FILE' }) } as const

/** @param choices the first is the default. */
export const formatFlag = <const Choices extends readonly [string, ...string[]]>(describe: string, choices: Choices) =>
  text('Output:', describe, { alias: 'o', choices, default: choices[0] })

/** The positionals of all commands that read manifests. */
export const PATHS = {
  paths: {
    describe: 'Manifests: files, directories, globs, or - for stdin (default: espalier.yaml or espalier/)',
    array: true,
  },
} as const

export const SELECTION_FLAGS = {
  project: text('Manifests:', 'Limit to projects whose id or name matches GLOB; repeatable', {
    value: 'GLOB',
    array: true,
  }),
  branch: text('Manifests:', 'Limit to database branches whose name or id matches GLOB; repeatable', {
    value: 'GLOB',
    array: true,
  }),
} as const

/** For commands that work on one project. */
export const ONE_PROJECT = text(
  '',
  'Project whose id or name matches GLOB; optional if the manifests declare only one project',
  { value: 'GLOB', array: true },
)

export const IMPORTED_PROJECTS = text(
  '',
  'Limit to projects whose id or name matches GLOB; repeatable (default: every project that the key can access)',
  { value: 'GLOB', array: true },
)

export const READ_PROJECTS = text(
  '',
  'Projects whose id or name matches GLOB, instead of paths, with or without a manifest; repeatable',
  {
    value: 'GLOB',
    array: true,
  },
)

export type SelectionFlags = FlagValues<typeof SELECTION_FLAGS> & { readonly wave?: string | undefined }

/** Flags for policies and account limits. */
export const REVIEW_FLAGS = {
  policy: text('Review:', 'Policy file to use in addition to espalier.policy.yaml; repeatable', {
    value: 'FILE',
    array: true,
  }),
  override: text('Review:', 'Allow what policy NAME denies, and record REASON; repeatable', {
    value: 'NAME=REASON',
    array: true,
  }),
} as const

/** Flags of `plan` and `apply` for choosing manifests and projects, and for the checks on them. */
export const PLANNING_FLAGS = {
  ...REVIEW_FLAGS,
  ...SELECTION_FLAGS,
  branch: {
    ...SELECTION_FLAGS.branch,
    describe:
      'Limit to changes on database branches whose name or id matches GLOB, and to changes that these need; repeatable',
  },
  wave: text('Manifests:', 'Limit to the projects in rollout wave NAME', { value: 'NAME' }),
  introduced: toggle('Manifests:', 'With --base, include only changes since REF and changes that these need'),
} as const

/** The smallest `--time-scale` of a sandbox. */
export const MIN_TIME_SCALE = 0.001

export const CONNECTION_FLAGS = {
  'base-url': text(COMMON_GROUP, 'Root URL of the control API (default: ESPALIER_BASE_URL or the public API)', {
    value: 'URL',
  }),
  'api-key-file': text(COMMON_GROUP, 'Read the API key from this file instead of ESPALIER_API_KEY or NEON_API_KEY', {
    value: 'FILE',
  }),
  sandbox: {
    type: 'string',
    group: COMMON_GROUP,
    describe:
      'Use an embedded control plane instead of the service. --sandbox=SEED.yaml starts from a seed file, --sandbox=DIR keeps state in DIR, and --sandbox in .espalier/sandbox',
  },
} as const

/** The flag of commands that send changes. */
export const TIMEOUT_FLAG = {
  timeout: duration('Control API:', 'How long to wait for each step, or for a locked project to be unlocked', {
    default: '10m',
  }),
} as const

export type ApiFlags = FlagValues<typeof CONNECTION_FLAGS & typeof COMMON_FLAGS>

export const EXIT_ERROR = '1   wrong input, wrong usage, or an error before anything was changed'

export const usageError = (message: string, hint?: string): EspalierError =>
  new EspalierError('E_USAGE', message, { hint })

/** The selection that `plan` and `apply` use. @throws {EspalierError} `E_USAGE` if `--introduced` is used without `--base`. */
export const selectionOf = (
  flags: SelectionFlags & { readonly base?: string | undefined; readonly introduced?: boolean | undefined },
) => {
  if (flags.introduced === true && flags.base === undefined) {
    throw usageError('--introduced needs --base REF.', 'For example: --base origin/main --introduced')
  }
  return {
    projects: flags.project,
    branches: flags.branch,
    wave: flags.wave,
    introducedSince: flags.introduced === true ? flags.base : undefined,
  }
}
