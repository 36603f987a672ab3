/** A template tag for HTML. It escapes every value except results of this tag and of `trusted`. */
import { html, raw } from 'hono/html'
import { group, plainText } from '../../base/index.ts'

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

/** Adds `and 3 more` if not all items are shown. */
export const andMore = (total: number, shown: number, where = ''): Markup =>
  when(total > shown, () => markup`<p class="lead">and ${group(total - shown)} more${where}</p>`)

/** Shows an ISO time without fractions of a second. */
export const timestamp = (iso: string): Markup =>
  markup`<time datetime="${iso}">${iso.replace('T', ' ').replace(/\.\d+/, '')}</time>`

/** For multi-line text such as JSON. (`plainText` would escape its line breaks.) */
export const lines = (text: string): readonly Value[] =>
  text.split('\n').map((line, index) => (index === 0 ? line : [LINE_END, line]))

export const textOf = (page: Markup): string => String(page)

const LINE_END = trusted('\n')

const plain = (value: Value): unknown => {
  if (typeof value === 'string') return plainText(value)
  return Array.isArray(value) ? value.map(plain) : value
}
