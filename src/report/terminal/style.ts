import pico from 'picocolors'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** Where text goes to: whether it may be coloured, and how many columns there are. */
export interface Style {
  readonly color: boolean
  readonly width: number
}

export type Paint = ReturnType<typeof pico.createColors>

export const paintOf = ({ color }: Style): Paint => pico.createColors(color)

/** Spaces up to `width` columns, as the eye counts them. */
export const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)))

/** In columns. */
export const textWidth = (text: string): number => (isNarrow(text) ? text.length : stringWidth(text))

/** One column for each character: true of nearly every text, and measuring 100,000 texts the long way takes seconds. */
const isNarrow = (text: string): boolean => /^[ -~–→…]*$/.test(text)

/** At most `width` columns of a text without colours, with an ellipsis where some of it is left out. */
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

/** The same with the ellipsis inside, since ids and names of branches often differ at the end only. */
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

/** What the eye takes for one character: its width does not depend on its neighbours. */
const segmentsOf = (text: string): string[] => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)

/** Later lines are indented under the first. */
export const wrapped = (text: string, style: Style): string => wrap(text, style, '', '  ')

/** Wrapped at words; later lines are indented under the first. */
export const wrap = (text: string, { width }: Style, first: string, later: string): string => {
  // Colour codes only lengthen it, so what is short enough as it is needs no measuring.
  if (first.length + text.length <= width && /^[\p{ASCII}–→]*$/u.test(text)) return first + text
  const indent = textWidth(later)
  const room = Math.max(20, width - indent)
  const lines = wrapAnsi(text, room, { hard: true, trim: true }).split('\n')
  return lines.map((line, index) => (index === 0 ? first : later) + line).join('\n')
}
