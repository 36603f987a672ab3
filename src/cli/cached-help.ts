/** The program's help as the build rendered it: rendering it again would take most of the run. */
import { readFileSync } from 'node:fs'

/** Put in by the build of an executable, which has no files next to it. */
declare const __ESPALIER_HELP__: Readonly<Record<number, string>> | undefined

/** As wide as what is piped, and as what a wide terminal is given (program.ts). */
const PIPED = 100
const WIDE = 110

/** `undefined` if it must be rendered: in a narrow terminal, or if nothing was built. */
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
