/** A seed file's text, with the place of everything that is wrong in it. */
import { readFile } from 'node:fs/promises'
import { type Document, isNode, LineCounter, parseDocument, visit } from 'yaml'
import { EspalierError } from '../../model/index.ts'
import { issueText } from '../issue-text.ts'
import { type ResolvedSeed, type Seed, seedShape } from './seed.ts'

/** Enough for any seed a person writes; an alias bomb stops here. */
const MAX_ALIASES = 100

/**
 * @param name the file as shown to people.
 * @throws {EspalierError} `E_SEED`: every problem on a separate line, with file, line and column.
 */
export const parseSeed = (text: string, name: string): Seed => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  if (document.errors.length > 0) {
    throw seedError(document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message.split('\n')[0]}`))
  }
  const value = toPlain(document, at)
  const parsed = seedShape.safeParse(value)
  // As it was written: what starts the sandbox fills the defaults in.
  if (parsed.success) return value as Seed
  throw seedError(
    parsed.error.issues.map(
      (issue) => `${at(offsetOf(document, issue.path))}: ${issue.path.join('.') || 'the file'}: ${issueText(issue)}`,
    ),
  )
}

/** @throws {EspalierError} `E_SEED` if the file cannot be read or is wrong. */
export const readSeed = async (path: string): Promise<Seed> => {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new EspalierError('E_SEED', `The seed file ${path} cannot be read.`, { cause })
  })
  return parseSeed(text, path)
}

/** @throws {EspalierError} `E_SEED` if a seed that was made by a program is wrong. */
export const resolveSeed = (value: Seed): ResolvedSeed => {
  const parsed = seedShape.safeParse(value)
  if (parsed.success) return parsed.data
  throw seedError(parsed.error.issues.map((issue) => `seed: ${issue.path.join('.')}: ${issueText(issue)}`))
}

const seedError = (problems: readonly string[]): EspalierError =>
  new EspalierError('E_SEED', problems.join('\n'), {
    hint: 'docs/sandbox.md shows what a seed may hold.',
  })

const toPlain = (document: Document, at: (offset: number) => string): unknown => {
  visit(document, {
    Alias: (_key, node) => {
      if (node.resolve(document) !== undefined) return
      throw seedError([`${at(node.range?.[0] ?? 0)}: *${node.source} is an unknown alias: no &${node.source} above it`])
    },
  })
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch {
    throw seedError([`${at(0)}: its aliases expand to too much (more than ${MAX_ALIASES} nodes each)`])
  }
}

/** Of the node at `path`, or of its nearest existing ancestor. */
const offsetOf = (document: Document, path: readonly PropertyKey[]): number => {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}
