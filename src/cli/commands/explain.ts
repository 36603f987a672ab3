import { EXIT, EXIT_WORDS, nearest } from '../../base/index.ts'
import { EXPLANATIONS, type Explanation } from '../../model/index.ts'
import { commandOf, type Description } from '../command.ts'
import { usageError } from '../setup/flags.ts'
import { print, styleOf } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: {
    code: { describe: 'A code such as E_SIZE, PRUNED or restart; an exit code; or sizes', optional: true },
  },
  flags: {},
  examples: [
    ['$0 explain E_SIZE', 'Show the rule, an example and a fix'],
    ['$0 explain sizes', 'List the compute sizes, and the limits of the account plans'],
    ['$0 explain', 'List all codes'],
  ],
  notes: `Exit codes:
  0   explained
  1   no such code, or wrong usage`,
} as const satisfies Description

const ALL = new Map(Object.entries(EXPLANATIONS))

/** The topic that is not a code. */
const SIZES = 'sizes'

/** All topics, for shell completion. */
export const codes = (): readonly { readonly word: string; readonly about: string }[] => [
  ...[...ALL].map(([word, { rule }]) => ({ word, about: rule })),
  { word: SIZES, about: 'The compute sizes, and the limits of the account plans.' },
]

export const explainCommand = commandOf(DESCRIPTION, async (flags, io) => {
  const { code } = flags
  if (code === SIZES) {
    const { sizesTable } = await import('../../report/index.ts')
    print(sizesTable(styleOf(io.stdout, flags, io.env)), io.stdout)
    return EXIT.ok
  }
  if (code === undefined) {
    for (const [name, { rule }] of [...ALL].sort(([a], [b]) => (a < b ? -1 : 1))) print(`${name}  ${rule}`, io.stdout)
    return EXIT.ok
  }
  const exit = Object.entries(EXIT).find(([, value]) => String(value) === code)
  if (exit !== undefined) {
    print(`Exit code ${code}: ${EXIT_WORDS[exit[0] as keyof typeof EXIT]}.`, io.stdout)
    return EXIT.ok
  }
  const found = [code, code.toUpperCase(), code.toLowerCase()].find((spelling) => ALL.has(spelling))
  const explanation = ALL.get(found ?? '')
  if (found === undefined || explanation === undefined) {
    const words = new Map([...ALL.keys(), SIZES].map((word) => [word.toLowerCase(), word]))
    const near = words.get(nearest(code.toLowerCase(), [...words.keys()]) ?? '')
    throw usageError(
      `There is no code ${code}${near === undefined ? '.' : `: did you mean ${near}?`}`,
      'Run `espalier explain` to list all codes.',
    )
  }
  print(explanationText(found, explanation), io.stdout)
  return EXIT.ok
})

const indented = (text: string): string => text.replace(/^/gm, '    ')

const explanationText = (code: string, { rule, example, wayOut, mistake, correction }: Explanation): string =>
  [
    `${code}\n`,
    `  rule     ${rule}`,
    ...(example === undefined ? [] : [`  example  ${example}`]),
    ...(wayOut === undefined ? [] : [`  way out  ${wayOut}`]),
    ...(mistake === undefined ? [] : [`\n  wrong\n${indented(mistake)}`]),
    ...(correction === undefined ? [] : [`\n  right\n${indented(correction)}`]),
  ].join('\n')
