/** HTML out of values: whatever is put into the tag is text, unless the tag or `trusted` made it. */
import { html, raw } from 'hono/html'
import { plainText } from '../words/index.ts'

declare const made: unique symbol

/** HTML that this module made. No text of unknown origin has this type. */
export interface Markup {
  readonly [made]: true
}

export type Value = Markup | string | number | undefined | readonly Value[]

export const markup = (strings: TemplateStringsArray, ...values: readonly Value[]): Markup =>
  html(strings, ...values.map(plain)) as unknown as Markup

/** Our own constants only: style sheet, script, drawings. */
export const trusted = (text: string): Markup => raw(text) as unknown as Markup

export const NOTHING: Markup = trusted('')

export const when = (condition: boolean, make: () => Markup): Markup => (condition ? make() : NOTHING)

/** Text whose line ends count, such as JSON: `plainText` would spell them out. */
export const lines = (text: string): readonly Value[] =>
  text.split('\n').map((line, index) => (index === 0 ? line : [LINE_END, line]))

export const textOf = (page: Markup): string => String(page)

const LINE_END = trusted('\n')

const plain = (value: Value): unknown => {
  if (typeof value === 'string') return plainText(value)
  return Array.isArray(value) ? value.map(plain) : value
}
