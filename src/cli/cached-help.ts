/** The program's help. It is rendered at build time, because `--help` would spend most of its time on rendering. */
import { readFileSync } from 'node:fs'

/** Defined only in the single executable, which has no files to read the help from. */
declare const __ESPALIER_HELP__: Readonly<Record<number, string>> | undefined

/** The widths that the help has in pipes and on wide terminals. See help.ts. */
const PIPED = 100
const WIDE = 110

/** `undefined` if the help must be rendered now, because the terminal is narrow or the program runs from source. */
export const cachedHelp = ({ isTTY, columns = PIPED }: { isTTY?: boolean; columns?: number }): string | undefined => {
  const width = isTTY === true ? Math.min(columns, WIDE) : PIPED
  if (width !== PIPED && width !== WIDE) return undefined
  if (typeof __ESPALIER_HELP__ === 'object') return __ESPALIER_HELP__[width]
  try {
    return readFileSync(new URL(`help/${width}.txt`, import.meta.url), 'utf8')
  } catch {
    return undefined
  }
}
