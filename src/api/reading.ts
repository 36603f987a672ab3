/** Progress of reading many projects. */
export interface Reading {
  readonly what: 'projects' | 'project names' | 'past operations'
  readonly done: number
  readonly total: number
}

export type OnReading = (reading: Reading) => void

/** Returns a function that counts a read as done, whether it succeeds or fails. */
export const countReads = (
  what: Reading['what'],
  total: number,
  onReading: OnReading = () => undefined,
): (<T>(read: Promise<T>) => Promise<T>) => {
  let done = 0
  onReading({ what, done, total })
  return (read) =>
    read.finally(() => {
      done += 1
      onReading({ what, done, total })
    })
}
