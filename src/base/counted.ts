/** `12,345`, in every locale. */
export const group = (count: number): string => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ',')

/** `1 compute`, `2 computes`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${group(count)} ${count === 1 ? noun : plural}`
