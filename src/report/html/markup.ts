/** A template tag for HTML, and the small elements that all pages share. */
import { html, raw } from 'hono/html'
import { group, plainText } from '../../base/index.ts'
import type { AgentState, ChangeKind } from '../../model/index.ts'
import { KIND_MARKS, type Tone } from '../words/impacts.ts'

declare const made: unique symbol

/** HTML that this module produced. It never contains unescaped text from other sources. */
export interface Markup {
  readonly [made]: true
}

export type Value = Markup | string | number | undefined | readonly Value[]

export const markup = (strings: TemplateStringsArray, ...values: readonly Value[]): Markup =>
  html(strings, ...values.map(plain)) as unknown as Markup

/** Marks HTML that must not be escaped. Only for constants such as styles, scripts and icons. */
export const trusted = (text: string): Markup => raw(text) as unknown as Markup

export const NOTHING: Markup = trusted('')

export const when = (condition: boolean, make: () => Markup): Markup => (condition ? make() : NOTHING)

/** A section with a title, which the navigation of the page links to. */
export const section = (id: string, title: string, body: Value, className?: string): Markup =>
  markup`<section aria-labelledby="${id}"${className === undefined ? '' : markup` class="${className}"`}><h2 id="${id}">${title}</h2>
${body}</section>`

export const verdictHeading = (look: Look, words: string): Markup =>
  markup`<h1 class="verdict ${look.tone}">${icon(look.icon)}${words}</h1>`

export const noteList = (notes: readonly string[]): Markup =>
  when(notes.length > 0, () => markup`<ul class="notes">${notes.map((one) => markup`<li>${one}</li>`)}</ul>`)

/** Adds `and 3 more` if not all items are shown. */
export const andMore = (total: number, shown: number, where = ''): Markup =>
  when(total > shown, () => markup`<p class="lead">and ${group(total - shown)} more${where}</p>`)

/** Shows an ISO time without fractions of a second. */
export const timestamp = (iso: string): Markup =>
  markup`<time datetime="${iso}">${iso.replace('T', ' ').replace(/\.\d+/, '')}</time>`

export const joined = (values: readonly Value[], separator: Value): Value =>
  values.map((value, index) => (index === 0 ? value : [separator, value]))

export const textOf = (page: Markup): string => String(page)

/** Separates the lines of a text such as JSON. (`plainText` would escape its line breaks.) */
export const LINE_END = trusted('\n')

const plain = (value: Value): unknown => {
  if (typeof value === 'string') return plainText(value)
  return Array.isArray(value) ? value.map(plain) : value
}

export interface Look {
  readonly icon: IconName
  readonly tone: Tone
}

export const STATE_ICONS: Readonly<Record<AgentState, Look>> = {
  Suspended: { icon: 'bar', tone: 'quiet' },
  Invalid: { icon: 'cross', tone: 'bad' },
  Failing: { icon: 'turn', tone: 'warn' },
  Blocked: { icon: 'shield', tone: 'bad' },
  Progressing: { icon: 'call', tone: 'calm' },
  Scheduled: { icon: 'clock', tone: 'move' },
  OutOfSync: { icon: 'warning', tone: 'warn' },
  Synced: { icon: 'check', tone: 'good' },
  Unknown: { icon: 'ring', tone: 'quiet' },
}

/** Each icon is recognizable by its shape alone. Drawn in a 16 × 16 square, with a stroke width of 1.75. */
const ICONS = {
  ring: '<circle cx="8" cy="8" r="3.5"/>',
  turn: '<path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.2v3h-3"/>',
  'half-turn':
    '<path d="M13 8a5 5 0 0 1-10 0" stroke-dasharray="2.2 2.2"/><path d="M3 8a5 5 0 0 1 8.4-3.7M13 2.2v3h-3"/>',
  cut: '<path d="M2 8h3.5M10.5 8H14M6.5 4.5v7M9.5 4.5v7"/>',
  swap: '<path d="M2.5 5.5h10M10 3l2.5 2.5L10 8M13.5 10.5h-10M6 8l-2.5 2.5L6 13"/>',
  diamond: '<path d="M8 2.5 13.5 8 8 13.5 2.5 8z"/><path d="M8 6v2.5M8 10.5v.1"/>',
  cross: '<path d="m3.8 3.8 8.4 8.4M12.2 3.8l-8.4 8.4"/>',
  check: '<path d="m3 8.5 3.3 3.3L13 4.8"/>',
  skip: '<path d="m3 4 5 4-5 4M12 4v8"/>',
  bar: '<circle cx="8" cy="8" r="5.5"/><path d="m4.2 11.8 7.6-7.6"/>',
  clock: '<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3.2l2.2 1.3"/>',
  call: '<path d="M8 2.5v11M5 5.5l3-3 3 3"/>',
  shield: '<path d="M8 2.2 13 4v4c0 3-2.2 4.9-5 5.8C5.2 12.9 3 11 3 8V4z"/>',
  warning: '<path d="M8 2.5 14 13H2z"/><path d="M8 6.5v3M8 11.2v.1"/>',
} as const

export type IconName = keyof typeof ICONS

/** A hidden SVG with all icons. `icon` refers to them by id. */
export const iconSheet = (): Markup =>
  trusted(
    `<svg class="sheet" width="0" height="0" aria-hidden="true" focusable="false">${Object.entries(ICONS)
      .map(([name, paths]) => `<symbol id="i-${name}" viewBox="0 0 16 16">${paths}</symbol>`)
      .join('')}</svg>`,
  )

/** An icon next to a word with the same meaning. */
export const icon = (name: IconName): Markup =>
  markup`<svg class="icon" aria-hidden="true" focusable="false"><use href="#i-${name}"/></svg>`

export const chip = (look: Look, words: string): Markup =>
  markup`<span class="chip ${look.tone}">${icon(look.icon)}${words}</span>`

export const chipList = (chips: readonly Markup[]): Markup =>
  when(chips.length > 0, () => markup`<ul class="chips">${chips.map((one) => markup`<li>${one}</li>`)}</ul>`)

/** A label such as `+ create`, in the tone of its kind. */
export const kindLabel = (kind: ChangeKind): Markup =>
  markup`<span class="kind ${KIND_MARKS[kind].tone}"><span aria-hidden="true">${KIND_MARKS[kind].symbol}</span> ${kind}</span>`
