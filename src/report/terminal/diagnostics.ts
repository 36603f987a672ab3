/** Shows diagnostics on a terminal, each with its place, the source line with carets, and the hint. */
import { counted, plainText } from '../../base/index.ts'
import type { Diagnostic, Source } from '../../model/index.ts'
import { type Alike, alike } from '../words/alike.ts'
import { severityCounts } from '../words/counts.ts'
import { fitting, type Paint, paintOf, type Style, textWidth, wrapped } from './style.ts'

type LineOf = (source: Source) => string | undefined

/** Keeps the order of the diagnostics, and adds counts at the end. Empty if there are no diagnostics. */
export const terminalDiagnostics = (diagnostics: readonly Diagnostic[], style: Style, lineOf: LineOf): string => {
  if (diagnostics.length === 0) return ''
  const paint = paintOf(style)
  const parts = alike(diagnostics).map((same) => groupText(same, style, paint, lineOf))
  const files = new Set(diagnostics.flatMap(({ source }) => source?.file ?? [])).size
  const counts = `${severityCounts(diagnostics).join(', ')}${files > 0 ? ` in ${counted(files, 'file')}` : ''}`
  return `${parts.join('\n\n')}\n\n${counts}\n`
}

const groupText = ({ diagnostic, same }: Alike, style: Style, paint: Paint, lineOf: LineOf): string =>
  [diagnosticText(diagnostic, style, paint, lineOf), ...same.map((words) => wrapped(words, style, 2))].join('\n')

/** @param indent number of spaces before each line. */
export const diagnosticText = (
  diagnostic: Diagnostic,
  style: Style,
  paint: Paint,
  lineOf: LineOf = () => undefined,
  indent = 0,
): string => {
  const { severity, code, message, hint, source } = diagnostic
  const word = severity === 'error' ? paint.red('error') : paint.yellow('warning')
  const where =
    source === undefined ? '' : `${paint.bold(`${plainText(source.file)}:${source.line}:${source.column}`)}  `
  return [
    wrapped(`${where}${word}  ${code}  ${plainText(message)}`, style, indent),
    ...(source === undefined ? [] : frame(source, lineOf(source), style, paint)),
    ...(hint === undefined ? [] : [wrapped(`${paint.cyan('hint')}: ${plainText(hint)}`, style, indent + 2)]),
  ].join('\n')
}

/** The source line with carets below it. If the line is long, only a part of it is shown. */
const frame = (
  { line, column, length }: Source,
  text: string | undefined,
  { width }: Style,
  paint: Paint,
): readonly string[] => {
  if (text === undefined || text.trim() === '') return []
  const margin = ` ${line} | `
  const room = Math.max(20, width - margin.length)
  const start = column - 1
  const from = start < room - 10 ? 0 : start - Math.floor(room / 3)
  const visible = (part: string): string => plainText(part.replaceAll('\t', '  '))
  const before = textWidth(visible(text.slice(from, start)))
  const marked = Math.max(1, Math.min(textWidth(visible(text.slice(start, start + length))), room - before))
  return [
    `${paint.dim(margin)}${fitting(visible(text.slice(from)), room)}`,
    `${paint.dim(`${' '.repeat(margin.length - 2)}| `)}${' '.repeat(before)}${paint.red('^'.repeat(marked))}`,
  ]
}
