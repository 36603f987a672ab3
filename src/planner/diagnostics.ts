import { compare, nearest } from '../base/index.ts'

/** A suggestion for the closest known name, or `otherwise` if no name is close enough. */
export const didYouMean = (wanted: string, known: readonly string[], otherwise: string): string => {
  const near = nearest(wanted, known)
  return near === undefined ? otherwise : `Did you mean \`${near}\`?`
}

const MAX_LISTED = 8

export const listNames = (names: readonly string[]): string => {
  if (names.length === 0) return 'The project has no branches.'
  const more = names.length - MAX_LISTED
  const shown = [...names].sort(compare).slice(0, MAX_LISTED)
  return `The project has ${shown.map((name) => `\`${name}\``).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
