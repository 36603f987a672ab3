/** Reads the inputs of the step. */
import { EspalierError } from '../base/index.ts'
import { allowed } from '../workflow/index.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Parses an input. `given` is the trimmed value, or empty if the input is not set. */
type Parse<T> = (given: string, name: string) => T

const text: Parse<string> = (given) => given

const words: Parse<readonly string[]> = (given) => given.split(/\s+/).filter((word) => word !== '')

const lines = (given: string): readonly string[] =>
  given
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const invalid = (name: string, given: string, hint: string): EspalierError =>
  new EspalierError('E_INPUT', `The input ${name} cannot be "${given}".`, { hint })

const oneOf =
  <T extends string>(values: readonly T[], byDefault?: T): Parse<T> =>
  (given, name) => {
    const found = values.find((value) => value === (given || byDefault))
    if (found !== undefined) return found
    throw invalid(name, given, `It must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}.`)
  }

const flag: Parse<boolean> = (given, name) => oneOf(['true', 'false'], 'false')(given, name) === 'true'

const number: Parse<number | undefined> = (given, name) => {
  if (given === '') return undefined
  const value = Number(given)
  if (Number.isFinite(value) && value >= 0) return value
  throw invalid(name, given, 'It must be a number of at least 0.')
}

/** The label is restricted because it becomes part of file names. */
const label: Parse<string> = (given, name) => {
  if (/^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$/.test(given)) return given
  const hint =
    'It can contain up to 64 letters, digits, dots, underscores and hyphens, and starts with a letter or digit.'
  throw invalid(name, given, hint)
}

const COMMANDS = ['validate', 'plan', 'apply', 'import'] as const
const COMMENTS = ['auto', 'always', 'never'] as const
const FAIL_ON = ['error', 'changes', 'restarts', 'deletes', 'policies', 'cost'] as const

/** How to parse each input. */
const INPUTS = {
  command: oneOf(COMMANDS, 'plan'),
  paths: words,
  /** Distinguishes this plan from other plans of the same pull request. Empty if its paths are enough for that. */
  label,
  /** Globs over the ids and names of the selected projects. */
  project: words,
  /** The pull request whose merge commit is checked out, if the workflow runs for another event. */
  pullRequest: number,
  apiKey: text,
  baseUrl: text,
  githubToken: text,
  comment: oneOf(COMMENTS, 'auto'),
  failOn: (given: string, name: string) =>
    (given || 'error').split(',').map((word) => oneOf(FAIL_ON)(word.trim(), name)),
  allow: (given: string) => allowed([given], 'allow'),
  now: flag,
  /** Whether to apply only what a pull request showed before it was approved, and to show whether it is approved. */
  requireApproval: flag,
  planFile: text,
  workingDirectory: (given: string) => given || '.',
  sandbox: text,
  maxRestarts: number,
  /** Policy files. */
  policy: words,
  /** `NAME=REASON` */
  override: lines,
  /** In CU-hours per month. The comment does not show the cost if it changes by less. */
  costThreshold: number,
}

export type Inputs = { readonly [K in keyof typeof INPUTS]: ReturnType<(typeof INPUTS)[K]> }

/** The name of an input in action.yml, such as `max-restarts` for `maxRestarts`. */
export const inputName = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** @throws {EspalierError} `E_INPUT` or `E_USAGE` */
export const readInputs = (env: Environment): Inputs =>
  Object.fromEntries(
    Object.entries(INPUTS).map(([key, parse]) => {
      const name = inputName(key)
      return [key, parse(inputOf(env, name), name)]
    }),
  ) as Inputs

const DESCRIBING = [
  'pull-request',
  'paths',
  'label',
  'project',
  'base-url',
  'github-token',
  'plan-file',
  'working-directory',
]

/**
 * Reads only the inputs that identify this step's comment. Used if another input is invalid.
 *
 * @throws {EspalierError} if one of the identifying inputs is invalid too.
 */
export const readDescribingInputs = (env: Environment): Inputs => {
  const isValid = (name: string, values: readonly string[]): boolean => values.includes(inputOf(env, name))
  const names = [
    ...DESCRIBING,
    ...(isValid('command', COMMANDS) ? ['command'] : []),
    ...(isValid('comment', COMMENTS) ? ['comment'] : []),
  ]
  return readInputs(Object.fromEntries(names.map((name) => [`INPUT_${name.toUpperCase()}`, inputOf(env, name)])))
}

/** The values to mask in logs. They can be read even if other inputs are invalid. */
export const secretsOf = (env: Environment): readonly string[] =>
  [inputOf(env, 'api-key'), inputOf(env, 'github-token')].filter((secret) => secret !== '')

export const githubTokenOf = (env: Environment): string => inputOf(env, 'github-token')

/** The runner converts names to upper case and keeps hyphens. Some alternative runners replace the hyphens. */
const inputOf = (env: Environment, name: string): string => {
  const upper = name.toUpperCase()
  return (env[`INPUT_${upper}`] ?? env[`INPUT_${upper.replaceAll('-', '_')}`] ?? '').trim()
}
