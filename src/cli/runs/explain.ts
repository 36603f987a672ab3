import { nearest } from '../../base/index.ts'
import { DIAGNOSTIC_CODES, MISTAKES as MANIFEST_MISTAKES, type Mistake } from '../../manifest/index.ts'
import { EXIT, type ExitCode } from '../../model/index.ts'
import { EXPLANATIONS, type Explanation, explanationText, MISTAKES } from '../../report/index.ts'
import type { ExplainFlags } from '../commands/explain.ts'
import { usageError } from '../flags.ts'
import type { Io } from '../io.ts'
import { print } from '../terminal.ts'

const ALL: ReadonlyMap<string, Explanation> = new Map(Object.entries({ ...EXPLANATIONS, ...DIAGNOSTIC_CODES }))

/** For completion. */
export const codes = (): readonly { readonly word: string; readonly about: string }[] =>
  [...ALL].map(([word, { rule }]) => ({ word, about: rule }))

const EXAMPLES: ReadonlyMap<string, Mistake> = new Map(Object.entries({ ...MISTAKES, ...MANIFEST_MISTAKES }))

const indented = (text: string): string => text.replace(/^/gm, '    ')

/** Lists all codes if none is given. */
export const runExplain = async ({ code }: ExplainFlags, io: Io): Promise<ExitCode> => {
  if (code === undefined) {
    for (const [name, { rule }] of [...ALL].sort(([a], [b]) => (a < b ? -1 : 1))) print(`${name}  ${rule}`, io.stdout)
    return EXIT.ok
  }
  const found = [code, code.toUpperCase(), code.toLowerCase()].find((spelling) => ALL.has(spelling))
  const explanation = ALL.get(found ?? '')
  if (found === undefined || explanation === undefined) {
    const near = nearest(code.toUpperCase(), [...ALL.keys()])
    throw usageError(
      `There is no code ${code}${near === undefined ? '.' : `: did you mean ${near}?`}`,
      'espalier explain lists all of them.',
    )
  }
  const shown = EXAMPLES.get(found)
  print(explanationText(found, explanation), io.stdout)
  if (shown !== undefined) {
    print(`\n  wrong\n${indented(shown.mistake)}\n\n  right\n${indented(shown.correction)}`, io.stdout)
  }
  return EXIT.ok
}
