/**
 * Completes the commands that messages suggest with the arguments of the command that is running. Messages of every
 * module contain only what is special about a command, such as `espalier apply --allow delete`. What a terminal shows
 * then concerns the same manifests, projects and service, under the same policies.
 */
import { shellWord } from '../../base/index.ts'
import { formatDuration } from '../../model/index.ts'
import { type Invocation, STDIN } from '../command.ts'
import { CONNECTION_FLAGS, type Flag, PLANNING_FLAGS } from './flags.ts'

/** Consent is not repeated, so that a suggested command asks. `fmt` suggests itself without `--check`. */
const NOT_REPEATED = new Set(['auto-approve', 'check'])
const SELECTION = new Set(['project', 'branch', 'wave', 'introduced', 'base'])
const CONNECTION = Object.keys(CONNECTION_FLAGS)
const PLANNING = [...Object.keys(PLANNING_FLAGS), 'base', ...CONNECTION]
/** Commands that read the same manifests, so that a suggested `plan` or `apply` takes their paths and flags. */
const OF_MANIFESTS = new Set(['apply', 'drift', 'plan', 'snapshot'])
/** Commands that do not use the control API. */
const OFFLINE = /^(agent|completion|explain|fmt|sandbox|show|validate)\b/

/** Completes the commands in backticks. What is complete stays the same. */
export const completeCommands = (text: string, running: Invocation | undefined): string =>
  running === undefined || !text.includes('`espalier ')
    ? text
    : text.replace(/`espalier ([^`]+)`/g, (_, words: string) => `\`espalier ${completed(words, running)}\``)

/** A file that `apply` treats as a saved plan. */
export const isPlanPath = (path: string): boolean => path.endsWith('.json')

const completed = (words: string, running: Invocation): string => {
  const [name = ''] = /^(?:(?:agent|compute|operations|sandbox) )?[a-z]+/.exec(words) ?? []
  const own = words.slice(name.length).trim()
  if (name === '' || own.startsWith('--help')) return words
  const paths = /^(-.|$)/.test(own) ? pathsFor(name, running) : []
  const isSaved = isPlanPath(paths[0] ?? '') || /^('[^']*\.json'|\S+\.json)(?= |$)/.test(own)
  const [saved = ''] = paths
  // Without its overrides, a saved plan is another plan. A limit on restarts is not part of it.
  if (name === 'apply' && isPlanPath(saved) && /--override (?!max-restarts=)/.test(own))
    return completed(`plan --out ${shellWord(saved)} ${own}`, running)
  const given = new Set([...own.matchAll(/(?:^| )--([a-z-]+)/g)].map(([, flag = '']) => flag))
  const flags = repeatedFlags(name, running)
    // A saved plan contains its selection.
    .filter((flag) => !(name === 'apply' && isSaved && SELECTION.has(flag)))
    .filter((flag) => !given.has(flag) || flag === 'override')
    .flatMap((flag) => flagWords(flag, running))
    .filter((word) => !own.includes(word))
  return [name, ...paths.map(shellWord), withGivenConsents(own, running), ...flags].filter(Boolean).join(' ')
}

const pathsFor = (name: string, running: Invocation): readonly string[] => {
  const { paths } = running.values
  if (!Array.isArray(paths) || !(name === running.name || (isPlanning(name) && OF_MANIFESTS.has(running.name))))
    return []
  const given = paths.map((path) => (path === STDIN ? '-' : path.startsWith('-') ? `./${path}` : path))
  return name === 'plan' && isPlanPath(given[0] ?? '') ? given.slice(1) : given
}

const isPlanning = (name: string): boolean => name === 'plan' || name === 'apply'

/** The flags of the running command that the suggested command repeats. */
export const repeatedFlags = (name: string, { name: running, flags, values }: Invocation): readonly string[] => {
  if (name === running) return Object.keys(flags).filter((flag) => !NOT_REPEATED.has(flag))
  if (OFFLINE.test(name)) return name.startsWith('agent ') && running.startsWith('agent ') ? ['data'] : []
  if (!isPlanning(name) || !OF_MANIFESTS.has(running)) return CONNECTION
  // Without --introduced, only `plan` compares with a base.
  return name === 'apply' && values.introduced !== true ? PLANNING.filter((flag) => flag !== 'base') : PLANNING
}

/** The words of a flag, each with its value. Empty if the flag is not given, or has its default. */
const flagWords = (name: string, { flags, values }: Invocation): readonly string[] => {
  const [flag, value] = [flags[name], values[name]]
  if (flag === undefined || value === undefined || value === false) return []
  if (value === true) return [`--${name}`]
  const texts = [value].flat().map((one) => textOf(one, flag))
  if (texts.join() === flag.default) return []
  // `--sandbox` accepts a value only after `=`.
  if (flag.requiresArg !== true)
    return texts.map((text) => (text === '' ? `--${name}` : `--${name}=${shellWord(text)}`))
  return texts.map((text) => `--${name}${text.startsWith('-') ? '=' : ' '}${shellWord(text)}`)
}

const textOf = (value: unknown, flag: Flag): string =>
  flag.isDuration === true ? formatDuration(Number(value) / 1_000) : String(value)

/** `--allow` adds to the consents of this run. */
const withGivenConsents = (own: string, { values }: Invocation): string =>
  own.replace(/--allow (\S+)/, (_, words: string) => {
    const more = words.split(',')
    const given = [values.allow ?? []].flat().flatMap((one) => String(one).split(','))
    const kept = given.filter((one) => one !== '' && !(one === 'none' && more.includes('restart')))
    return `--allow ${[...new Set([...kept, ...more])].join(',')}`
  })
