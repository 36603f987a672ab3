/** Restart windows: which are open, and when the next one opens. */
export { closingOf, type Opening, openingOf } from './opening.ts'
