/** Inserts untrusted text into Markdown so that it is shown literally, and shortens text to fit GitHub's limits. */
import { plainText } from '../../base/index.ts'
import type { Change, Diagnostic, Origin, Plan } from '../../model/index.ts'

/**
 * Formats text as a code span. Only there does every renderer show text literally, without turning it into mentions,
 * issues, commits, links or entities. A pipe is escaped, because it would end a table cell.
 */
export const literal = (text: string): string => {
  const plain = plainText(text).replaceAll('|', '\\u{7c}')
  if (plain === '') return '` `'
  const runs = new Set((plain.match(/`+/g) ?? []).map((run) => run.length))
  let length = 1
  while (runs.has(length)) length += 1
  const fence = '`'.repeat(length)
  // Renderers remove one space from each end of a code span.
  const room = /^[` ]|[` ]$/.test(plain) ? ' ' : ''
  return `${fence}${room}${plain}${room}${fence}`
}

/** The first line of every comment and summary. @param words trusted Markdown. */
export const heading = ({ name }: { readonly name?: string }, words: string): string =>
  `### Espalier${name === undefined ? '' : ` ${literal(name)}`}: ${words}`

/** What is asked of the reader. @param words trusted Markdown, one sentence each. Several are listed. */
export const asked = (words: readonly string[]): readonly string[] =>
  words.length === 1 ? [`**What to do:** ${words[0]}`] : ['**What to do:**', ...words.map((one) => `- ${one}`)]

export const boxed = (kind: 'WARNING' | 'CAUTION', lines: readonly string[]): string =>
  [`[!${kind}]`, ...lines].map((line) => `> ${line}`).join('\n')

/** @param shown trusted Markdown. */
export const linked = (shown: string, address: string | undefined): string =>
  address === undefined ? shown : `[${shown}](${address})`

export const diagnosticText = ({ code, message, hint }: Diagnostic): string =>
  `**${code}** ${literal(message)}${hint === undefined ? '' : ` ${literal(hint)}`}`

/**
 * @param head trusted Markdown, as are the cells of `rows`.
 * @param rule the line below the head, which aligns columns.
 */
export const table = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rule: readonly string[] = head.map(() => '---'),
): string => [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** A code block. Its fence is longer than any fence in its lines. */
export const fenced = (language: string, lines: readonly string[]): string => {
  const text = lines.map((line) => plainText(line)).join('\n')
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}${language}\n${text}\n${fence}`
}

/** Escapes a label for a Mermaid graph, by writing all characters except letters, digits and spaces as entities. */
export const mermaidText = (text: string): string =>
  plainText(text).replace(/[^\p{L}\p{N} ]/gu, (char) => `#${char.codePointAt(0)};`)

/** @param title trusted text. Markdown in it is not rendered. */
export const folded = (title: string, body: string): string =>
  `<details><summary>${title}</summary>\n\n${body}\n\n</details>`

/** Shortens text to fit GitHub's limits. */
export interface Limit {
  readonly most: number
  readonly measure: (text: string) => number
}

const fits = (text: string, { most, measure }: Limit): boolean => measure(text) <= most

/**
 * Returns the first of `forms` that fits. They are sorted from longest to shortest. If none fits, returns the result of
 * `fewer` with as many rows as fit, but at most `rows`.
 */
export const fitTo = (
  limit: Limit,
  forms: readonly (() => string)[],
  rows: number,
  fewer: (rows: number) => string,
): string => {
  for (const form of forms) {
    const text = form()
    if (fits(text, limit)) return text
  }
  let [low, high] = [0, rows]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(fewer(middle), limit)) low = middle
    else high = middle - 1
  }
  return fewer(low)
}

/** No limit, for terminals and files. */
export const NO_LIMIT: Limit = { most: Number.POSITIVE_INFINITY, measure: () => 0 }

/** The maximum length of a comment, in characters. */
export const COMMENT_LIMIT: Limit = { most: 65_536, measure: (text) => text.length }

const utf8 = new TextEncoder()

/** The maximum size of a step summary, in bytes: the 1 MiB that GitHub allows, minus a margin for line endings. */
export const SUMMARY_LIMIT: Limit = { most: 1024 * 1024 - 16, measure: (text) => utf8.encode(text).length }

export interface Frame {
  /** The name of the plan, shown in the heading if there are several plans. */
  readonly name?: string
  /** The first line. It is an HTML comment, from which the next run recognizes this comment. */
  readonly marker: string
  /** The commit that the manifests were read from. */
  readonly commit: string
  /** Returns the URL of a line in a manifest, or `undefined` if the line should not be a link. */
  readonly linkTo?: (file: string, line: number) => string | undefined
  /** Says where to find the full text if this text was shortened. Trusted Markdown. */
  readonly whole: string
}

/** What introduces the changes: a pull request or merge group, or all work since a git ref. */
export type Introducer = 'this pull request' | 'this merge group' | { readonly since: string }

export interface PlanView extends Partial<Frame> {
  readonly plan: Plan
  readonly origin: Origin
  /** Absent if the plan contains only drift. */
  readonly introducedBy?: Introducer
  /** When the snapshot was taken, ISO 8601. */
  readonly takenAt?: string
  /** In CU-hours a month. A change in cost that is smaller than this is not shown. */
  readonly costThreshold?: number
  /** Sentences about how this plan was made. Trusted Markdown. */
  readonly notes: readonly string[]
  /** Returns hidden text about the changes that have a row. Other changes cannot be applied as reviewed. */
  readonly recordOf?: (shown: readonly Change[]) => string
}
