/** The program's help as the build laid it out: doing so anew takes most of the time that it takes to be shown. */
import { readFileSync } from 'node:fs'

/** As wide as what is piped, and as what a wide terminal is given (program.ts). */
const PIPED = 100
const WIDE = 110

/** `undefined` where it must be laid out: in a narrow terminal, or where nothing was built. */
export const keptHelp = ({ isTTY, columns = PIPED }: { isTTY?: boolean; columns?: number }): string | undefined => {
  const width = isTTY === true ? Math.min(columns, WIDE) : PIPED
  if (width !== PIPED && width !== WIDE) return undefined
  try {
    return readFileSync(new URL(`help/${width}.txt`, import.meta.url), 'utf8')
  } catch {
    return undefined
  }
}
