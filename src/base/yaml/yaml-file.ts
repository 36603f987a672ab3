/** Reads files of one YAML document that are checked with a schema: seeds, fault files and lists of keys. */
import { LineCounter } from 'yaml'
import type { z } from 'zod'
import { EspalierError } from '../errors.ts'
import { readBoundedFile } from '../files.ts'
import { issueAt } from '../issue-text.ts'
import { readContents } from './documents.ts'
import { type Content, isPlainMap } from './nodes.ts'

const MAX_BYTES = 32 * 1024 * 1024

export interface FileKind {
  /** The code of errors about this kind of file. */
  readonly code: string
  readonly title: string
  readonly hint: string
}

/**
 * @param name the name of the file in messages.
 * @throws {EspalierError} with the kind's code, if the file cannot be read or is invalid: see {@link parseYaml}.
 */
export const readYaml = async <T>(
  path: string,
  schema: z.ZodType<unknown, T>,
  kind: FileKind,
  name = path,
): Promise<T> => {
  const text = await readBoundedFile(path, MAX_BYTES).catch((cause: NodeJS.ErrnoException) => {
    const problem = cause.code === 'ENOENT' ? 'was not found' : `cannot be read (${cause.code ?? cause.message})`
    throw new EspalierError(kind.code, `${kind.title} ${name} ${problem}.`, { hint: kind.hint, cause })
  })
  return parseYaml(text, name, schema, kind)
}

/**
 * Returns the value as it is written in the file, without the defaults of the schema.
 *
 * @param name the name of the file in messages.
 * @throws {EspalierError} with the kind's code and one line for each mistake, with its file, line and column.
 */
export const parseYaml = <T>(
  text: string,
  name: string,
  schema: z.ZodType<unknown, T>,
  { code, hint }: FileKind,
): T => {
  const lines = new LineCounter()
  const check = (mistakes: readonly { readonly start: number; readonly message: string }[]): void => {
    if (mistakes.length === 0) return
    const located = mistakes.map(({ start, message }) => {
      const { line, col } = lines.linePos(start)
      return `${name}:${line}:${col}: ${message}`
    })
    throw new EspalierError(code, located.join('\n'), { hint })
  }
  const [first, second] = readContents(text, lines)
  check(first?.problems ?? [])
  if (second !== undefined) check([{ start: second.content?.start ?? 0, message: 'only one document is allowed' }])
  const value = first?.content?.value ?? null
  const issues = schema.safeParse(value).error?.issues ?? []
  check(issues.map((issue) => ({ start: startOf(first?.content, issue.path), message: issueAt(issue, 'the file') })))
  return value as T
}

/** The position of the value at `path` or, if there is no such value, of its nearest ancestor. */
const startOf = (content: Content | undefined, path: readonly PropertyKey[]): number => {
  let start = content?.start ?? 0
  let value: unknown = content?.value
  for (const key of path) {
    const entries = typeof value === 'object' && value !== null ? content?.entries.get(value) : undefined
    const entry = Array.isArray(entries) ? entries[Number(key)] : entries?.get(String(key))
    if (entry === undefined) break
    start = entry.start
    value = isPlainMap(value) ? value[String(key)] : (value as readonly unknown[])[Number(key)]
  }
  return start
}
