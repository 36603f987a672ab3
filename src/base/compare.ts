/** Compares by code unit, independently of the locale. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
