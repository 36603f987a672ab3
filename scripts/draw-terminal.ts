/**
 * Draws a terminal's text as an SVG: `espalier plan … | tsx scripts/draw-terminal.ts OUT.svg TITLE`, colours kept
 * (FORCE_COLOR=1). Self-contained, the text is text.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const [out = 'docs/images/plan.svg', title = 'A plan'] = process.argv.slice(2)
const LINE = 18
const CHAR = 7.85
const PADDING = 18
const BAR = 30

interface Span {
  readonly text: string
  readonly classes: string
}

const CLASSES: Readonly<Record<number, string>> = { 1: 'b', 2: 'd', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' }
const ENDS: Readonly<Record<number, readonly string[]>> = {
  0: ['b', 'd', 'red', 'green', 'yellow', 'cyan'],
  22: ['b', 'd'],
  39: ['red', 'green', 'yellow', 'cyan'],
}

/** The runs of one colour in a line; what is open at its end goes on in the next. */
const spansOf = (line: string, open: Set<string>): readonly Span[] => {
  const spans: Span[] = []
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
  for (const [index, part] of line.split(/\x1b\[(\d+)m/).entries()) {
    if (index % 2 === 0) {
      if (part !== '') spans.push({ text: part, classes: [...open].join(' ') })
      continue
    }
    const code = Number(part)
    const name = CLASSES[code]
    if (name !== undefined) open.add(name)
    for (const ended of ENDS[code] ?? []) open.delete(ended)
  }
  return spans
}

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

const lines = readFileSync(0, 'utf8').trimEnd().split('\n')
const open = new Set<string>()
const spans = lines.map((line) => spansOf(line, open))
const columns = Math.max(...spans.map((line) => line.reduce((sum, { text }) => sum + text.length, 0)))
const width = Math.ceil(columns * CHAR + 2 * PADDING)
const height = BAR + lines.length * LINE + 2 * PADDING

const body = spans.map((line, index) => {
  const y = BAR + PADDING + (index + 1) * LINE - 5
  const parts = line.map(
    ({ text, classes }) => `<tspan${classes === '' ? '' : ` class="${classes}"`}>${escaped(text)}</tspan>`,
  )
  return `  <text x="${PADDING}" y="${y}" xml:space="preserve">${parts.join('')}</text>`
})

writeFileSync(
  out,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
  <title id="title">${escaped(title)}</title>
  <style>
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d7dce2; white-space: pre; }
    .b { font-weight: 700; fill: #fff; } .d { fill: #8b949e; }
    .red { fill: #ff8e86; } .green { fill: #7ee09a; } .yellow { fill: #f0c85a; } .cyan { fill: #7cd4e8; }
  </style>
  <rect width="${width}" height="${height}" rx="10" fill="#161b22" stroke="#30363d"/>
  <circle cx="20" cy="17" r="5.5" fill="#ff5f57"/><circle cx="38" cy="17" r="5.5" fill="#febc2e"/><circle cx="56" cy="17" r="5.5" fill="#28c840"/>
${body.join('\n')}
</svg>
`,
)
