/** YAML text to documents, one at a time, each with the problems that YAML itself has with it. */
import { Composer, type CST, type Document, type LineCounter, type ParsedNode, Parser } from 'yaml'
import { MAX_DEPTH } from '../files/limits.ts'

export interface YamlProblem {
  readonly code: 'E_YAML' | 'E_TAG' | 'E_TOO_DEEP'
  readonly message: string
  readonly hint?: string
  /** Offsets into the text. */
  readonly start: number
  readonly end: number
}

export interface YamlDocument {
  /** Absent where nothing could be made of it. */
  readonly document?: Document.Parsed<ParsedNode>
  readonly problems: readonly YamlProblem[]
}

/** Duplicate keys are looked for by the reader: the library's own search takes quadratic time. */
const OPTIONS = { uniqueKeys: false, schema: 'core', merge: false, prettyErrors: false } as const

export const readDocuments = function* (text: string, lines: LineCounter): Iterable<YamlDocument> {
  const composer = new Composer<ParsedNode>(OPTIONS)
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    const deep = tooDeep(token)
    if (deep !== undefined) {
      yield { problems: [deep] }
      return
    }
    for (const document of composer.next(token)) yield wrap(document)
  }
  for (const document of composer.end()) yield wrap(document)
}

const wrap = (document: Document.Parsed<ParsedNode>): YamlDocument => ({
  document,
  problems: [...document.errors, ...document.warnings].map(({ code, message, pos: [start, end] }) =>
    code === 'TAG_RESOLVE_FAILED'
      ? {
          code: 'E_TAG',
          message: 'A manifest is plain data: tags are not allowed here.',
          hint: 'Remove the tag.',
          start,
          end,
        }
      : { code: 'E_YAML', ...inWords(code, message), start, end },
  ),
})

const inWords = (code: string, message: string): { readonly message: string; readonly hint?: string } => {
  if (code === 'TAB_AS_INDENT') {
    return { message: 'YAML is indented with spaces, and here is a tab.', hint: 'Replace the tab by spaces.' }
  }
  const sentence = message.split('\n')[0]?.replace(/\.?$/, '.') ?? message
  return { message: `This is not YAML: ${sentence}` }
}

/** Composing is recursive, so depth is measured on the tokens before. */
const tooDeep = (root: CST.Token): YamlProblem | undefined => {
  const stack: { readonly token: CST.Token; readonly depth: number }[] = [{ token: root, depth: 0 }]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { token, depth } = top
    if (depth > MAX_DEPTH) {
      return {
        code: 'E_TOO_DEEP',
        message: `This is nested more than ${MAX_DEPTH} levels deep.`,
        start: token.offset,
        end: token.offset + 1,
      }
    }
    if (token.type === 'document' && token.value !== undefined) stack.push({ token: token.value, depth })
    if (!('items' in token)) continue
    for (const item of token.items) {
      if (item.key) stack.push({ token: item.key, depth: depth + 1 })
      if (item.value) stack.push({ token: item.value, depth: depth + 1 })
    }
  }
  return undefined
}
