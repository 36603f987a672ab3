/**
 * Writes messages for the issues that zod finds in files and requests. Not in the index of base, because its types depend
 * on zod, and the published types must not.
 */
import type { z } from 'zod'

type Issue = z.core.$ZodIssue

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'a mapping of names to values',
  record: 'a mapping of names to values',
}

/** Matches the messages that zod itself writes. */
const ZOD_MESSAGE = /^(Invalid|Too|Unrecognized) /

/** The place of an issue: `projects[0].branches[1].name`. */
const placeOf = ({ path }: Pick<Issue, 'path'>): string =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')

/** The message for an issue. A message that the schema itself defines is kept. */
const issueText = (issue: Issue): string => {
  if (!ZOD_MESSAGE.test(issue.message)) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return expected(issue.expected, issue.message)
    case 'unrecognized_keys':
      return `unknown key${issue.keys.length > 1 ? 's' : ''} ${issue.keys.map((key) => `\`${key}\``).join(', ')}`
    case 'too_small':
      return `must ${bound(issue.origin, issue.minimum, 'at least', issue.inclusive === false)}`
    case 'too_big':
      return `must ${bound(issue.origin, issue.maximum, 'at most', issue.inclusive === false)}`
    case 'invalid_value':
      return oneOf(issue.values.map(String))
    case 'invalid_format':
      return issue.format === 'regex'
        ? `must match ${issue.pattern ?? 'its pattern'}`
        : `must be a valid ${issue.format}`
    case 'invalid_union':
      return union(issue.message)
    default:
      return issue.message
  }
}

/** The path of an issue with its message, for example `projects[0].size: is required`. @param whole names the value. */
export const issueAt = (issue: Issue | undefined, whole: string): string =>
  issue === undefined ? `${whole}: is not valid` : `${placeOf(issue) || whole}: ${issueText(issue)}`

const oneOf = (values: readonly string[]): string =>
  `must be ${values.map((value) => `\`${value}\``).join(', ')}`.replace(/, ([^,]*)$/, ' or $1')

/** For a discriminated union, zod lists the allowed values only in its message. */
const union = (message: string): string => {
  if (message === 'Invalid input') return 'is not one of the allowed forms'
  const values = /Expected (.+)$/.exec(message)?.[1]?.match(/(?<=')[^']+(?=')/g)
  return values == null ? message : oneOf(values.filter((value) => value.trim() !== '|'))
}

const expected = (kind: string, message: string): string => {
  if (message.endsWith('received undefined')) return 'is required'
  return `must be ${KINDS[kind] ?? kind}`
}

const bound = (origin: string, limit: number | bigint, words: string, isStrict: boolean): string => {
  const how = isStrict ? (words === 'at least' ? 'more than' : 'less than') : words
  if (origin === 'string') return `have ${how} ${limit} character${limit === 1 ? '' : 's'}`
  if (origin === 'array') return `have ${how} ${limit} item${limit === 1 ? '' : 's'}`
  return `be ${how} ${limit}`
}
