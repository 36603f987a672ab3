import type { LineCounter } from 'yaml'
import type { Source } from '../../model/index.ts'

/** The maximum length of a marked range, for very long lines. */
const LONGEST_MARK = 1_000

/** The position of a text range. A range of several lines is cut at the end of its first line. */
export const sourceAt = (file: string, text: string, lines: LineCounter, start: number, end: number): Source => {
  const { line, col } = lines.linePos(start)
  const stretch = text.slice(start, Math.min(end, start + LONGEST_MARK))
  const lineEnd = stretch.indexOf('\n')
  const length = lineEnd < 0 ? stretch.length : lineEnd
  return { file, line: Math.max(1, line), column: Math.max(1, col), length: Math.max(1, length) }
}

/** The position of a problem with a whole file. */
export const startOfFile = (file: string): Source => ({ file, line: 1, column: 1, length: 1 })
