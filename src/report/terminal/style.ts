import pico from 'picocolors'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** Properties of the output: colour, and width in columns. */
export interface Style {
  readonly color: boolean
  readonly width: number
}

export type Paint = ReturnType<typeof pico.createColors>

export const paintOf = ({ color }: Style): Paint => pico.createColors(color)

/** Pads to `width` columns. */
export const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)))

/** In columns. */
export const textWidth = (text: string): number => (isNarrow(text) ? text.length : stringWidth(text))

/** Texts with one column per character: nearly all of them, and measuring 100,000 texts otherwise takes seconds. */
const isNarrow = (text: string): boolean => /^[ -~–→…]*$/.test(text)

/** Truncates a text without colours to `width` columns, with an ellipsis. */
export const clip = (text: string, width: number): string => {
  if (textWidth(text) <= width) return text
  if (width <= 0) return ''
  let kept = ''
  let room = width - 1
  for (const segment of segmentsOf(text)) {
    room -= textWidth(segment)
    if (room < 0) break
    kept += segment
  }
  return `${kept}…`
}

/** Truncates in the middle, since ids and branch names often differ only at the end. */
export const clipMiddle = (text: string, width: number): string => {
  if (textWidth(text) <= width || width < 5) return clip(text, width)
  const most = Math.floor((width - 1) / 2)
  let [tail, taken] = ['', 0]
  for (const segment of segmentsOf(text).reverse()) {
    taken += textWidth(segment)
    if (taken > most) break
    tail = segment + tail
  }
  return clip(text, width - textWidth(tail)) + tail
}

/** Grapheme clusters, whose widths can be added. */
const segmentsOf = (text: string): string[] => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)

/** Wraps with a hanging indent of two. */
export const wrapped = (text: string, style: Style): string => wrap(text, style, '', '  ')

/** Wraps at words. @param first the indent of the first line. @param later the indent of later lines. */
export const wrap = (text: string, { width }: Style, first: string, later: string): string => {
  // Fast path. Colour codes only add to the length.
  if (first.length + text.length <= width && /^[\p{ASCII}–→]*$/u.test(text)) return first + text
  const indent = textWidth(later)
  const room = Math.max(20, width - indent)
  const lines = wrapAnsi(text, room, { hard: true, trim: true }).split('\n')
  return lines.map((line, index) => (index === 0 ? first : later) + line).join('\n')
}
