/** Splits YAML text into documents, one at a time, within limits. Problems are values with positions in the text. */
import { Composer, type CST, type Document, Lexer, type LineCounter, type ParsedNode, Parser } from 'yaml'
import {
  type Content,
  MAX_DEPTH,
  MAX_DOCUMENT_TOKENS,
  MAX_PROBLEMS,
  MAX_TOTAL_TOKENS,
  NO_TAGS,
  readNodes,
  type YamlProblem,
} from './nodes.ts'
import { readTokens } from './tokens.ts'

/** A document in the form that keeps its comments and layout. */
export interface ParsedDocument {
  /** Absent if it could not be parsed at all. */
  readonly document?: Document.Parsed<ParsedNode>
  readonly problems: readonly YamlProblem[]
}

/** A document as plain values. */
export interface DocumentContent {
  /** Absent if the document is not valid YAML. Other problems, such as a duplicate key, leave the rest readable. */
  readonly content?: Content
  readonly problems: readonly YamlProblem[]
  /** Whether it was simple enough to be read from its tokens. */
  readonly isSimple: boolean
}

/** `uniqueKeys` is off because the library takes quadratic time for it. The reader detects duplicate keys itself. */
const OPTIONS = { uniqueKeys: false, schema: 'core', merge: false, prettyErrors: false } as const

/** How much of {@link MAX_TOTAL_TOKENS} is left for the files of a run. */
export interface TokenBudget {
  left: number
}

export const tokenBudget = (): TokenBudget => ({ left: MAX_TOTAL_TOKENS })

/** Stops at the first document that is too large or too deep, because then the start of the next one is unknown. */
export const readDocuments = (text: string, lines: LineCounter): Iterable<ParsedDocument> =>
  read(text, lines, tokenBudget()) as Iterable<ParsedDocument>

/**
 * Like {@link readDocuments}, for readers that need only the values. Reads documents from their tokens up to the first
 * one that is not simple.
 */
export const readContents = function* (
  text: string,
  lines: LineCounter,
  budget: TokenBudget = tokenBudget(),
): Iterable<DocumentContent> {
  for (const found of read(text, lines, budget, readTokens)) {
    if ('content' in found) yield { content: found.content, problems: [], isSimple: true }
    else if (found.document === undefined || found.problems.length > 0) {
      yield { problems: found.problems, isSimple: false }
    } else yield { ...readNodes(found.document, lines), isSimple: false }
  }
}

interface SimpleDocument {
  readonly content: Content
}

const read = function* (
  text: string,
  lines: LineCounter,
  budget: TokenBudget,
  readSimple?: typeof readTokens,
): Iterable<ParsedDocument | SimpleDocument> {
  const composer = new Composer<ParsedNode>(OPTIONS)
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let isComposing = readSimple === undefined
  /** The last simple document, held back because a later token may show that it has an error. */
  let last: { readonly token: CST.Document; readonly content: Content } | undefined
  /** The latest tokens of documents: the composer returns a document only after the token that follows it. */
  let tokens: readonly CST.Token[] = []
  const compose = function* (token: CST.Token): Generator<ParsedDocument> {
    if (token.type === 'document') tokens = [...tokens.slice(-1), token]
    for (const document of composer.next(token)) yield wrap(document, tokens)
  }
  /** Yields the documents that the token completes. Returns whether reading can continue after it. */
  const next = function* (token: CST.Token): Generator<ParsedDocument | SimpleDocument, boolean> {
    if (!isComposing && !BETWEEN_DOCUMENTS.has(token.type)) {
      const document = token.type === 'document' ? token : undefined
      const content = document && readSimple?.(document)
      if (last !== undefined) {
        if (document !== undefined) yield { content: last.content }
        else yield* compose(last.token)
      }
      last = document && content && { token: document, content }
      isComposing = last === undefined
    }
    if (!isComposing) return true
    const deep = tooDeep(token)
    if (deep !== undefined) {
      yield { problems: [deep] }
      return false
    }
    yield* compose(token)
    return true
  }
  let used = 0
  // Feed the parser lexeme by lexeme, because it only returns complete documents.
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === DOCUMENT_START) {
      used = 0
      budget.left -= DOCUMENT_COST
    }
    used += 1
    budget.left -= 1
    const wrong = tooMuch(parser, used, budget)
    if (wrong !== undefined) {
      yield { problems: [wrong] }
      return
    }
    for (const token of parser.next(lexeme)) if (!(yield* next(token))) return
  }
  for (const token of parser.end()) if (!(yield* next(token))) return
  if (last !== undefined) yield { content: last.content }
  for (const document of composer.end()) yield wrap(document, tokens)
}

const BETWEEN_DOCUMENTS: ReadonlySet<string> = new Set(['byte-order-mark', 'comment', 'newline', 'space'])

const DOCUMENT_START = '---'
/** Cost of a document in tokens: even empty documents take time. */
const DOCUMENT_COST = 50
/** Limits the parser's stack while a document is incomplete. {@link tooDeep} then checks the exact depth. */
const MAX_OPEN = 3 * MAX_DEPTH

const tooMuch = ({ stack, offset }: Parser, used: number, budget: TokenBudget): YamlProblem | undefined => {
  if (stack.length <= MAX_OPEN && used <= MAX_DOCUMENT_TOKENS && budget.left >= 0) return undefined
  const at = { start: offset, end: offset + 1 }
  if (stack.length > MAX_OPEN) return { ...TOO_DEEP, ...at }
  const message =
    used > MAX_DOCUMENT_TOKENS
      ? 'The document has more than 400,000 YAML tokens.'
      : 'The files together have more than 4,000,000 YAML tokens.'
  return { kind: 'tokens', message, ...at }
}

const wrap = (document: Document.Parsed<ParsedNode>, tokens: readonly CST.Token[]): ParsedDocument => {
  const problems = [...document.errors, ...document.warnings].slice(0, MAX_PROBLEMS)
  const open = problems.some(({ message }) => UNCLOSED.test(message)) ? tokens.flatMap(unclosedIn) : []
  return {
    document,
    problems: problems.map(({ code, message, pos: [start, end] }) => {
      const [opener] = UNCLOSED.test(message) ? open.splice(-1) : []
      return opener ?? { kind: 'syntax', ...wordsFor(code, message), start, end }
    }),
  }
}

const UNCLOSED = /^Flow (map|sequence) |^Missing closing /

/** Quotes, braces and brackets that are not closed, in the order of the text. */
const unclosedIn = (root: CST.Token): YamlProblem[] => {
  const found: YamlProblem[] = []
  const report = (start: number, opener: string, closer = opener): void => {
    const [message, hint] = [`The \`${opener}\` is not closed.`, `Add the missing \`${closer}\`.`]
    found.push({ kind: 'syntax', message, hint, start, end: start + 1 })
  }
  for (const { token } of tokensIn(root)) {
    const { type, offset } = token
    if (type === 'flow-collection') {
      const isMap = token.start.type === 'flow-map-start'
      const isClosed = token.end.some((end) => end.type === (isMap ? 'flow-map-end' : 'flow-seq-end'))
      if (!isClosed) report(offset, isMap ? '{' : '[', isMap ? '}' : ']')
    } else if (type === 'single-quoted-scalar' || type === 'double-quoted-scalar') {
      const [quote = ''] = token.source
      if (token.source.length === 1 || !token.source.endsWith(quote)) report(offset, quote)
    }
  }
  return found.sort((a, b) => a.start - b.start)
}

const wordsFor = (code: string, message: string): Pick<YamlProblem, 'message' | 'hint'> => {
  if (code === 'TAG_RESOLVE_FAILED') return NO_TAGS
  if (code === 'TAB_AS_INDENT') {
    return { message: 'YAML must be indented with spaces, not tabs.', hint: 'Replace the tab with spaces.' }
  }
  const plain = PLAIN[code]
  if (plain !== undefined) return { message: plain[0], hint: plain[1] }
  const sentence = message.split('\n')[0]?.replace(/\.?$/, '.') ?? message
  return { message: `This is not valid YAML: ${sentence}` }
}

/** Messages and hints for the most common errors. The library's own use the terms of the YAML specification. */
const PLAIN: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  BAD_INDENT: ['This line is indented differently from the others of its map or list.', 'Indent it like them.'],
  BAD_SCALAR_START: ['A value cannot start with this character.', 'Put the value in quotes.'],
  BLOCK_AS_IMPLICIT_KEY: ['A line can have only one key.', 'Put a value that contains `: ` in quotes.'],
  MULTILINE_IMPLICIT_KEY: ['A key must be followed by a colon on the same line.', 'Add the colon, or delete the line.'],
}

const TOO_DEEP = { kind: 'depth', message: `The value is nested more than ${MAX_DEPTH} levels deep.` } as const

/** Checks the depth of the tokens first, because composing is recursive. */
const tooDeep = (root: CST.Token): YamlProblem | undefined => {
  for (const { token, depth } of tokensIn(root)) {
    if (depth > MAX_DEPTH) {
      return { ...TOO_DEEP, start: token.offset, end: token.offset + 1 }
    }
  }
  return undefined
}

const tokensIn = function* (root: CST.Token): Iterable<{ readonly token: CST.Token; readonly depth: number }> {
  const stack: { readonly token: CST.Token; readonly depth: number }[] = [{ token: root, depth: 0 }]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    yield top
    const { token, depth } = top
    if (token.type === 'document' && token.value !== undefined) stack.push({ token: token.value, depth })
    if (!('items' in token)) continue
    for (const item of token.items) {
      if (item.key) stack.push({ token: item.key, depth: depth + 1 })
      if (item.value) stack.push({ token: item.value, depth: depth + 1 })
    }
  }
}
