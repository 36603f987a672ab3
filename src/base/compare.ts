/** Compares by code unit, which does not depend on the locale. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
