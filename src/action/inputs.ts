/** The inputs of the step, as the runner hands them over. */
import { type Consent, EspalierError } from '../model/index.ts'
import { allowed } from '../workflow/index.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export const COMMANDS = ['validate', 'plan', 'apply'] as const
export const COMMENTS = ['auto', 'always', 'never'] as const
export const FAIL_ON = ['error', 'changes', 'restarts', 'deletes'] as const

export interface Inputs {
  readonly command: (typeof COMMANDS)[number]
  readonly paths: readonly string[]
  readonly apiKey: string
  readonly baseUrl: string
  readonly githubToken: string
  readonly comment: (typeof COMMENTS)[number]
  readonly failOn: readonly (typeof FAIL_ON)[number][]
  readonly allow: ReadonlySet<Consent>
  readonly now: boolean
  readonly keepGoing: boolean
  readonly planFile: string
  readonly workingDirectory: string
  readonly sandbox: string
  readonly maxRestarts?: number
  readonly maxDeletes?: number
  readonly maxCuIncrease?: number
}

/** @throws {EspalierError} `E_INPUT` or `E_USAGE` that names the input and what it takes. */
export const readInputs = (env: Environment): Inputs => ({
  command: oneOf('command', COMMANDS, text(env, 'command') || 'plan'),
  paths: text(env, 'paths')
    .split(/\s+/)
    .filter((path) => path !== ''),
  apiKey: text(env, 'api-key'),
  baseUrl: text(env, 'base-url'),
  githubToken: text(env, 'github-token'),
  comment: oneOf('comment', COMMENTS, text(env, 'comment') || 'auto'),
  failOn: (text(env, 'fail-on') || 'error').split(',').map((word) => oneOf('fail-on', FAIL_ON, word.trim())),
  allow: allowed([text(env, 'allow')], 'allow'),
  now: flag(env, 'now'),
  keepGoing: flag(env, 'keep-going'),
  planFile: text(env, 'plan-file'),
  workingDirectory: text(env, 'working-directory') || '.',
  sandbox: text(env, 'sandbox'),
  ...number(env, 'max-restarts', 'maxRestarts'),
  ...number(env, 'max-deletes', 'maxDeletes'),
  ...number(env, 'max-cu-increase', 'maxCuIncrease'),
})

/** The runner writes names in capitals and leaves hyphens; some programs that stand in for it do not leave them. */
const text = (env: Environment, name: string): string => {
  const upper = name.toUpperCase()
  return (env[`INPUT_${upper}`] ?? env[`INPUT_${upper.replaceAll('-', '_')}`] ?? '').trim()
}

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
