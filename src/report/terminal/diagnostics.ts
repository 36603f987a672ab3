/** Diagnostics on a terminal: place, source line with carets, and hint. */
import stringWidth from 'string-width'
import type { Diagnostic, Source } from '../../model/index.ts'
import { counted, plainText } from '../words/index.ts'
import { type Paint, paintOf, type Style, wrap } from './style.ts'

type LineOf = (source: Source) => string | undefined

/** In the given order, with counts at the end. Empty if there are none. */
export const terminalDiagnostics = (diagnostics: readonly Diagnostic[], style: Style, lineOf: LineOf): string => {
  if (diagnostics.length === 0) return ''
  const paint = paintOf(style)
  const parts = diagnostics.map((diagnostic) => one(diagnostic, style, paint, lineOf))
  return `${parts.join('\n\n')}\n\n${closing(diagnostics)}\n`
}

const one = (diagnostic: Diagnostic, style: Style, paint: Paint, lineOf: LineOf): string => {
  const { severity, code, message, hint, source } = diagnostic
  const word = severity === 'error' ? paint.red('error') : paint.yellow('warning')
  const where =
    source === undefined ? '' : `${paint.bold(`${plainText(source.file)}:${source.line}:${source.column}`)}  `
  return [
    wrap(`${where}${word}  ${code}  ${plainText(message)}`, style, '', '  '),
    ...(source === undefined ? [] : frame(source, lineOf(source), style, paint)),
    ...(hint === undefined ? [] : [wrap(`${paint.cyan('hint')}: ${plainText(hint)}`, style, '  ', '    ')]),
  ].join('\n')
}

/** The source line with carets below; of a long line, the part around the place. */
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
  const shown = [...visible(text.slice(from))]
  const cut: string[] = []
  for (let used = 0, index = 0; index < shown.length; index += 1) {
    const char = shown[index] ?? ''
    used += stringWidth(char)
    if (used > room) break
    cut.push(char)
  }
  const before = stringWidth(visible(text.slice(from, start)))
  const marked = Math.max(1, Math.min(stringWidth(visible(text.slice(start, start + length))), room - before))
  return [
    `${paint.dim(margin)}${cut.join('')}`,
    `${paint.dim(`${' '.repeat(margin.length - 2)}| `)}${' '.repeat(before)}${paint.red('^'.repeat(marked))}`,
  ]
}

const closing = (diagnostics: readonly Diagnostic[]): string => {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const warnings = diagnostics.length - errors
  const files = new Set(diagnostics.map(({ source }) => source?.file).filter((file) => file !== undefined)).size
  const parts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ]
  return `${parts.join(', ')}${files > 0 ? ` in ${counted(files, 'file')}` : ''}`
}
