/** Text of unknown origin in Markdown that GitHub renders: shown as it is, whatever it holds. */
import { plainText } from '../plain-text.ts'

/**
 * As code, with every character that could mean something as an entity. Entities never become Markdown or HTML; and in code
 * GitHub makes no mentions, issue links or addresses of text, which it does after entities were read.
 */
export const literal = (text: string): string =>
  `<code>${plainText(text).replace(/[&<>`*_[\]()!#|\\~$@:/.{}^]/g, (char) => `&#${char.charCodeAt(0)};`)}</code>`

/** The first line of every comment and summary. @param words Markdown of our own. */
export const heading = ({ name }: { readonly name?: string }, words: string): string =>
  `### Espalier${name === undefined ? '' : ` ${literal(name)}`}: ${words}`

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

export const folded = (title: string, body: string): string =>
  `<details><summary>${title}</summary>\n\n${body}\n\n</details>`
