/**
 * Reads YAML files that are written by hand, such as seeds. Each mistake is reported with its file, line and column.
 */
import { readFile } from 'node:fs/promises'
import { type Document, isNode, LineCounter, parseDocument, visit } from 'yaml'
import type { z } from 'zod'
import { EspalierError } from '../model/index.ts'
import { issueText } from './issue-text.ts'

/** Enough for any file that is written by hand. A file with an alias bomb is rejected. */
const MAX_ALIASES = 100

export interface FileKind {
  /** The code of errors about this kind of file. */
  readonly code: string
  readonly title: string
  readonly hint: string
}

/** @throws {EspalierError} with the kind's code, if the file cannot be read. */
export const readYaml = async (path: string, { code, title, hint }: FileKind): Promise<string> => {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const problem = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'was not found' : 'cannot be read'
    throw new EspalierError(code, `${title} ${path} ${problem}.`, { hint, cause })
  }
}

/**
 * Returns the value as it is written in the file, without the defaults of the schema.
 *
 * @param name the name of the file in messages.
 * @throws {EspalierError} with the kind's code and one line for each mistake.
 */
export const parseYaml = (text: string, name: string, schema: z.ZodType, { code, hint }: FileKind): unknown => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true })
  const mistake = (offset: number, message: string): string => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}: ${message}`
  }
  const check = (mistakes: readonly string[]): void => {
    if (mistakes.length > 0) throw new EspalierError(code, mistakes.join('\n'), { hint })
  }
  check(document.errors.map(({ pos, message }) => mistake(pos[0], message.split('\n')[0] ?? '')))
  visit(document, {
    Alias: (_key, node) => {
      if (node.resolve(document) !== undefined) return
      const message = `*${node.source} is an unknown alias: no &${node.source} above it`
      check([mistake(node.range?.[0] ?? 0, message)])
    },
  })
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch {
    check([mistake(0, `too many aliases: at most ${MAX_ALIASES} are allowed`)])
  }
  const issues = schema.safeParse(value).error?.issues ?? []
  check(
    issues.map((issue) =>
      mistake(offsetOf(document, issue.path), `${issue.path.join('.') || 'the file'}: ${issueText(issue)}`),
    ),
  )
  return value
}

/** The position of the node at `path` or, if there is no such node, of its nearest ancestor. */
const offsetOf = (document: Document, path: readonly PropertyKey[]): number => {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}
