/** Renders a terminal screen as an SVG with a light and a dark color scheme. The text can be selected. */
import type { IBufferCell, Terminal } from '@xterm/headless'

const LINE = 18
const CHAR = 7.83
const PADDING = 16
const BAR = 28

/** The names of colors, by their index in the terminal's palette. */
const COLORS: Readonly<Record<number, string>> = { 1: 'r', 2: 'g', 3: 'y', 5: 'm', 6: 'c' }

interface Scheme {
  readonly ground: string
  readonly line: string
  readonly ink: string
  readonly strong: string
  readonly dim: string
  readonly colors: Readonly<Record<string, string>>
}

const LIGHT: Scheme = {
  ground: '#fff',
  line: '#d0d7de',
  ink: '#24292f',
  strong: '#000',
  dim: '#656d76',
  colors: { r: '#c62828', g: '#1a7f37', y: '#8a5a00', m: '#8a3ab9', c: '#0a6c84' },
}

const DARK: Scheme = {
  ground: '#161b22',
  line: '#30363d',
  ink: '#d7dce2',
  strong: '#fff',
  dim: '#8b949e',
  colors: { r: '#ff8e86', g: '#7ee09a', y: '#f0c85a', m: '#dba6ff', c: '#7cd4e8' },
}

/** The CSS rules of a scheme. They use no custom properties, because some SVG viewers do not support them. */
const rulesOf = ({ ground, line, ink, strong, dim, colors }: Scheme): string =>
  [
    `text{fill:${ink}}.b{fill:${strong}}.d{fill:${dim}}`,
    ...Object.entries(colors).map(([name, color]) => `.${name}{fill:${color}}`),
    `.ground{fill:${ground};stroke:${line}}`,
  ].join('')

interface Span {
  readonly column: number
  readonly classes: string
  text: string
}

const classesOf = (cell: IBufferCell): string =>
  [
    cell.isBold() === 0 ? '' : 'b',
    cell.isDim() === 0 ? '' : 'd',
    cell.isFgPalette() ? (COLORS[cell.getFgColor() % 8] ?? '') : '',
  ]
    .filter((name) => name !== '')
    .join(' ')

const spansOf = (terminal: Terminal, row: number): readonly Span[] => {
  const line = terminal.buffer.active.getLine(row)
  const spans: Span[] = []
  for (let column = 0; line !== undefined && column < terminal.cols; column += 1) {
    const cell = line.getCell(column)
    const text = cell?.getChars() ?? ''
    if (cell === undefined || text === '' || cell.getWidth() === 0) continue
    const classes = classesOf(cell)
    const last = spans.at(-1)
    if (last !== undefined && last.classes === classes && last.column + [...last.text].length === column)
      last.text += text
    else spans.push({ column, classes, text })
  }
  return spans
    .filter(({ text }) => text.trim() !== '')
    .map(({ column, classes, text }) => {
      const shown = text.trimStart()
      return { column: column + text.length - shown.length, classes, text: shown.trimEnd() }
    })
}

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

/**
 * @param from the first line that is rendered.
 * @param rows the maximum number of lines.
 */
export const terminalSvg = (terminal: Terminal, title: string, from: number, rows: number): string => {
  const all = Array.from({ length: terminal.buffer.active.length - from }, (_, row) => spansOf(terminal, from + row))
  const lines = all.slice(0, all.findLastIndex((line) => line.length > 0) + 1)
  const shown = lines.slice(0, rows)
  const width = Math.ceil(terminal.cols * CHAR + 2 * PADDING)
  const height = BAR + shown.length * LINE + 2 * PADDING
  const body = shown.map((line, index) => {
    const y = BAR + PADDING + (index + 1) * LINE - 5
    const parts = line.map(
      ({ column, classes, text }) =>
        `<tspan x="${Math.round((PADDING + column * CHAR) * 10) / 10}"${classes === '' ? '' : ` class="${classes}"`}>${escaped(text)}</tspan>`,
    )
    return `<text y="${y}" xml:space="preserve">${parts.join('')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${escaped(title)}</title>
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}.b{font-weight:700}
${rulesOf(LIGHT)}
@media (prefers-color-scheme:dark){${rulesOf(DARK)}}</style>
<rect class="ground" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10"/>
<circle cx="20" cy="17" r="5.5" fill="#ff5f57"/><circle cx="38" cy="17" r="5.5" fill="#febc2e"/><circle cx="56" cy="17" r="5.5" fill="#28c840"/>
${body.join('\n')}
</svg>
`
}
