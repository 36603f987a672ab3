/** Symbols and colours of impacts. Each has its own symbol, so that colour is not needed. */
import { IMPACT_NAMES, type Impact } from '../../model/index.ts'
import type { Paint } from './style.ts'

const SYMBOLS: Readonly<Record<Impact, string>> = {
  none: '·',
  'may-restart': '?',
  restart: '!',
  disconnect: '⊘',
  move: '→',
  replace: '⇄',
  delete: '✗',
}

const painters = (paint: Paint): Readonly<Record<Impact, (text: string) => string>> => ({
  none: paint.green,
  'may-restart': paint.yellow,
  restart: (text) => paint.bold(paint.yellow(text)),
  disconnect: (text) => paint.bold(paint.magenta(text)),
  move: (text) => paint.bold(paint.cyan(text)),
  replace: paint.red,
  delete: (text) => paint.bold(paint.red(text)),
})

/** `! restarts`; @param words instead of the impact's name. */
export const impactMark = (impact: Impact, paint: Paint, words = IMPACT_NAMES[impact]): string =>
  paintImpact(impact, paint)(`${SYMBOLS[impact]} ${words}`)

export const paintImpact = (impact: Impact, paint: Paint): ((text: string) => string) => painters(paint)[impact]
