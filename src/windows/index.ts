/** Restart windows against the clock: which are open, and when the next one opens. */
export { closingOf, type Opening, openingOf } from './opening.ts'
