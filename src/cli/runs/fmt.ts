import { text } from 'node:stream/consumers'
import { createTwoFilesPatch } from 'diff'
import { formatManifest, parseManifests, readFiles } from '../../manifest/index.ts'
import { type Diagnostic, EXIT, type ExitCode } from '../../model/index.ts'
import { plainText, terminalDiagnostics } from '../../report/index.ts'
import { pathsOf } from '../../workflow/index.ts'
import { usageError } from '../flags.ts'
import { STDIN } from '../stdin.ts'
import { print, styleOf } from '../terminal.ts'
import { replaceFile } from '../write-file.ts'

export interface FmtFlags {
  readonly paths: readonly string[]
  readonly check?: boolean | undefined
  readonly diff?: boolean | undefined
  readonly noColor?: boolean | undefined
}

/** What keeps a file from being taken apart; whatever else is wrong with it, its order and spelling can be right. */
const UNREADABLE = new Set(['E_YAML', 'E_TAG', 'E_TOO_DEEP', 'E_TOO_LARGE', 'E_ALIAS_LIMIT'])

export const runFmt = async (flags: FmtFlags): Promise<ExitCode> => {
  if (flags.paths.includes(STDIN)) return formatStdin(flags)
  const cwd = process.cwd()
  const { texts, diagnostics } = await readFiles(await pathsOf(flags.paths, cwd), cwd)
  const problems: Diagnostic[] = [...diagnostics]
  let changed = 0
  for (const { file, path, text } of texts) {
    const own = problemsOf(path, text)
    problems.push(...own)
    const formatted = own.length > 0 ? text : formatManifest(text)
    if (formatted === text) continue
    changed += 1
    print(plainText(path))
    showDiff(path, text, formatted, flags)
    if (flags.check !== true) await replaceFile(file, formatted, 'The manifest')
  }
  if (problems.length > 0) {
    print(
      terminalDiagnostics(problems, styleOf(process.stderr, flags), () => undefined),
      process.stderr,
    )
    return EXIT.error
  }
  const files = `${texts.length} file${texts.length === 1 ? '' : 's'}`
  if (changed === 0) print(`Nothing to format in ${files}.`, process.stderr)
  else if (flags.check === true) print(`${changed} of ${files} not formatted: run \`espalier fmt\`.`, process.stderr)
  return changed > 0 && flags.check === true ? EXIT.changes : EXIT.ok
}

const formatStdin = async (flags: FmtFlags): Promise<ExitCode> => {
  if (flags.paths.length > 1) throw usageError('- (stdin) stands alone: it cannot be read beside other manifests.')
  if (process.stdin.isTTY === true) throw usageError('- reads a manifest from stdin, and nothing is piped into it.')
  const given = await text(process.stdin)
  const problems = problemsOf(STDIN, given)
  if (problems.length > 0) {
    print(
      terminalDiagnostics(problems, styleOf(process.stderr, flags), () => undefined),
      process.stderr,
    )
    return EXIT.error
  }
  const formatted = formatManifest(given)
  if (flags.diff === true) showDiff(STDIN, given, formatted, flags)
  else if (flags.check !== true) process.stdout.write(formatted)
  return flags.check === true && formatted !== given ? EXIT.changes : EXIT.ok
}

const problemsOf = (path: string, given: string): readonly Diagnostic[] =>
  parseManifests([{ path, text: given }]).diagnostics.filter(({ code }) => UNREADABLE.has(code))

const showDiff = (path: string, before: string, after: string, { diff }: FmtFlags): void => {
  if (diff !== true || before === after) return
  const patch = createTwoFilesPatch(path, path, before, after, '', '', { context: 3 })
  print(patch.split('\n').slice(1).map(plainText).join('\n'))
}
