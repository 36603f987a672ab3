/** Text of unknown origin in Markdown: shown as it is, whatever it holds. */
import { plainText } from '../../base/index.ts'

/**
 * As a code span: the one form in which every renderer leaves text alone. GitHub looks there for no mention, no issue,
 * no commit and no address, and no entity is read. A pipe is escaped, since in a table it would end the cell.
 */
export const literal = (text: string): string => {
  const plain = plainText(text).replaceAll('|', '\\u{7c}')
  if (plain === '') return '` `'
  const runs = new Set((plain.match(/`+/g) ?? []).map((run) => run.length))
  let length = 1
  while (runs.has(length)) length += 1
  const fence = '`'.repeat(length)
  // A renderer takes one space away at both ends, where there is one at both.
  const room = /^[` ]|[` ]$/.test(plain) ? ' ' : ''
  return `${fence}${room}${plain}${room}${fence}`
}

/** The first line of every comment and summary. @param words Markdown of our own. */
export const heading = ({ name }: { readonly name?: string }, words: string): string =>
  `### Espalier${name === undefined ? '' : ` ${literal(name)}`}: ${words}`

/** @param shown Markdown of our own. */
export const linked = (shown: string, address: string | undefined): string =>
  address === undefined ? shown : `[${shown}](${address})`

/** Lines within a fence that nothing in them can close. */
export const fenced = (language: string, lines: readonly string[]): string => {
  const text = lines.map((line) => plainText(line)).join('\n')
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}${language}\n${text}\n${fence}`
}

/** A label in a mermaid graph: its own entities for all but letters, digits and spaces. */
export const mermaidText = (text: string): string =>
  plainText(text).replace(/[^\p{L}\p{N} ]/gu, (char) => `#${char.codePointAt(0)};`)

/** @param title of our own. A name would not do: Markdown is not read in it. */
export const folded = (title: string, body: string): string =>
  `<details><summary>${title}</summary>\n\n${body}\n\n</details>`
