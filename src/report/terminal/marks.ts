/** The symbols and colours of impacts. Each impact has its own symbol, so that it can be recognized without colour. */
import { IMPACT_NAMES, type Impact } from '../../model/index.ts'
import type { Paint } from './style.ts'

const MARKS: Readonly<Record<Impact, readonly [symbol: string, color: (text: string, paint: Paint) => string]>> = {
  none: ['·', (text, paint) => paint.green(text)],
  'may-restart': ['?', (text, paint) => paint.yellow(text)],
  restart: ['!', (text, paint) => paint.bold(paint.yellow(text))],
  disconnect: ['⊘', (text, paint) => paint.bold(paint.magenta(text))],
  move: ['→', (text, paint) => paint.bold(paint.cyan(text))],
  replace: ['⇄', (text, paint) => paint.red(text)],
  delete: ['✗', (text, paint) => paint.bold(paint.red(text))],
}

/** A mark such as `! restarts`. @param words shown in place of the name of the impact. */
export const impactMark = (impact: Impact, paint: Paint, words = IMPACT_NAMES[impact]): string =>
  paintImpact(`${MARKS[impact][0]} ${words}`, impact, paint)

export const paintImpact = (text: string, impact: Impact, paint: Paint): string => MARKS[impact][1](text, paint)
