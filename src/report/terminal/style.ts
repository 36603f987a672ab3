/** Colours and widths of text on a terminal, and the marks of impacts and results. */
import pico from 'picocolors'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { IMPACT_NAMES, type Impact, type StepStatus } from '../../model/index.ts'
import { statusWords } from '../words/apply-verdict.ts'
import { IMPACT_MARKS, STATUS_MARKS } from '../words/impacts.ts'

export interface Style {
  readonly color: boolean
  /** The width of the terminal, in columns. */
  readonly width: number
  /** Completes the commands that a text suggests. By default, they are shown as they are. */
  readonly complete?: (text: string) => string
}

export type Paint = ReturnType<typeof pico.createColors>

export const paintOf = ({ color }: Style): Paint => pico.createColors(color)

/** Pads the text with spaces to `width` columns. */
export const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)))

/** The width of a text, in columns. */
export const textWidth = (text: string): number => (isNarrow(text) ? text.length : stringWidth(text))

/** Whether each character takes one column. Without this test, measuring 100,000 strings takes seconds. */
const isNarrow = (text: string): boolean => /^[ -~–→…]*$/.test(text)

/** No visible character has more code units per column than this. A family emoji has eleven in two columns. */
const CODE_UNITS_PER_COLUMN = 16

/** The longest prefix that fits into `width` columns. */
export const fitting = (text: string, width: number): string => {
  let [kept, used] = ['', 0]
  // Segmenting a line of 31 MiB takes gigabytes, even if only its first segments are read.
  for (const segment of segmentsOf(text.slice(0, width * CODE_UNITS_PER_COLUMN))) {
    used += textWidth(segment)
    if (used > width) break
    kept += segment
  }
  return kept
}

/** Truncates a string to `width` columns, and marks this with an ellipsis. The string must not contain colour codes. */
export const clip = (text: string, width: number): string => {
  if (textWidth(text) <= width) return text
  return width <= 0 ? '' : `${fitting(text, width - 1)}…`
}

/** Truncates a string in the middle, because ids and branch names often differ only at the end. */
export const clipMiddle = (text: string, width: number): string => {
  if (textWidth(text) <= width || width < 5) return clip(text, width)
  const most = Math.floor((width - 1) / 2)
  let [tail, used] = ['', 0]
  for (const segment of segmentsOf(text).reverse()) {
    used += textWidth(segment)
    if (used > most) break
    tail = segment + tail
  }
  return clip(text, width - textWidth(tail)) + tail
}

/** Splits a text into grapheme clusters, whose widths can be added. */
const segmentsOf = (text: string): string[] => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)

/** Wraps at words. Lines after the first are indented by two more. @param indent the spaces before the first line. */
export const wrapped = (text: string, style: Style, indent = 0): string =>
  wrap(text, style, ' '.repeat(indent), ' '.repeat(indent + 2))

/** Wraps at words. @param first the indent of the first line. @param later the indent of later lines. */
export const wrap = (raw: string, { width, complete }: Style, first: string, later: string): string => {
  const text = complete?.(raw) ?? raw
  // The fast path for texts that fit. Colour codes can only make a text look longer than it is.
  if (first.length + text.length <= width && /^[\p{ASCII}–→]*$/u.test(text)) return first + text
  const indent = textWidth(later)
  const room = Math.max(20, width - indent)
  const lines = wrapAnsi(text, room, { hard: true, trim: true }).split('\n')
  return lines.map((line, index) => (index === 0 ? first : later) + line).join('\n')
}

/** A mark such as `! restarts`. @param words shown in place of the name of the impact. */
export const impactMark = (impact: Impact, paint: Paint, words = IMPACT_NAMES[impact]): string =>
  paintImpact(`${IMPACT_MARKS[impact].symbol} ${words}`, impact, paint)

export const paintImpact = (text: string, impact: Impact, paint: Paint): string => {
  const { colour, isBold } = IMPACT_MARKS[impact]
  return isBold ? paint.bold(paint[colour](text)) : paint[colour](text)
}

export const statusMark = (status: StepStatus, paint: Paint): string =>
  paint[STATUS_MARKS[status].colour](statusWords(status))
