/** The program's help, rendered at build time: rendering takes most of the time of `--help`. */
import { readFileSync } from 'node:fs'

/** Defined by the build of the single executable, which has no other files. */
declare const __ESPALIER_HELP__: Readonly<Record<number, string>> | undefined

/** The widths for pipes and for wide terminals (help.ts). */
const PIPED = 100
const WIDE = 110

/** `undefined` if it must be rendered: for a narrow terminal, or when running from source. */
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
