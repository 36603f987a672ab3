import { realpath } from 'node:fs/promises'
import { createTwoFilesPatch } from 'diff'
import { canonicalJson, counted, EspalierError, EXIT, type ExitCode, plainText, replaceFile } from '../../base/index.ts'
import { formatManifest, parseManifests, readFiles } from '../../manifest/index.ts'
import { type Diagnostic, withoutPlaces } from '../../model/index.ts'
import { pathsOf } from '../../workflow/index.ts'
import { commandOf, type Description, STDIN, type ValuesOf } from '../command.ts'
import { PATHS, toggle } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { readStdin } from '../setup/manifests.ts'
import { printProblems } from '../terminal/report-problems.ts'
import { print } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: PATHS,
  flags: {
    check: toggle('', 'Print the changes without writing files; exit with 2 if there are any'),
  },
  examples: [
    ['$0 fmt', 'Format espalier.yaml, or else the files in espalier/'],
    ['$0 fmt --check fleet/', 'In CI, show the diff and fail if a file is not formatted'],
    ['$0 fmt - < espalier.yaml', 'Format from stdin to stdout, for use in an editor'],
  ],
  notes: `Keys are sorted as in the schema, unless the document has anchors. A comment moves with the key
below it, unless it starts the document. \`size\` and \`scaleToZero\` get their canonical form
(\`300s\` becomes \`5m\`). The order of branches, replicas, profiles and rules does not change, nor do
indentation, quotes and blank lines. Prints the names of changed files.

Exit codes:
  0   everything is formatted now
  1   a file cannot be read as YAML or written, or wrong usage
  2   with --check, a file would change`,
} as const satisfies Description

type FmtFlags = ValuesOf<typeof DESCRIPTION>

/** A file with one of these problems cannot be parsed. Other problems do not prevent it from being formatted. */
const UNREADABLE = new Set(['E_YAML', 'E_TOO_LARGE'])

export const fmtCommand = commandOf(DESCRIPTION, async (flags, io) => {
  if (flags.paths.includes(STDIN)) return formatStdin(flags, io)
  const cwd = io.cwd
  const { texts, diagnostics } = await readFiles(await pathsOf(flags.paths, cwd), cwd)
  const problems: Diagnostic[] = [...diagnostics]
  let changed = 0
  for (const { file, path, text } of texts) {
    const own = problemsOf(path, text)
    problems.push(...own)
    const formatted = own.length > 0 ? text : format(path, text)
    if (formatted === text) continue
    changed += 1
    print(plainText(path), io.stdout)
    if (flags.check === true) showDiff(path, text, formatted, io)
    // If the file is a link, this writes the file that it points to, which is in the same tree.
    else await replaceFile(await realpath(file), formatted, 'The manifest')
  }
  if (problems.length > 0) {
    printProblems(problems, flags, io)
    return EXIT.error
  }
  const files = counted(texts.length, 'file')
  if (changed === 0) print(`Nothing to format in ${files}.`, io.stderr)
  else if (flags.check === true)
    print(`${changed} of ${files} not formatted. To format, run \`espalier fmt\`.`, io.stderr)
  return changed > 0 && flags.check === true ? EXIT.changes : EXIT.ok
})

const formatStdin = async (flags: FmtFlags, io: Io): Promise<ExitCode> => {
  const given = await readStdin(flags.paths, io)
  const problems = problemsOf(STDIN, given)
  if (problems.length > 0) {
    printProblems(problems, flags, io)
    return EXIT.error
  }
  const formatted = format(STDIN, given)
  if (flags.check !== true) {
    io.stdout.write(formatted)
    return EXIT.ok
  }
  if (formatted !== given) showDiff(STDIN, given, formatted, io)
  print(formatted === given ? 'Nothing to format.' : 'Not formatted.', io.stderr)
  return formatted === given ? EXIT.ok : EXIT.changes
}

/** @throws {EspalierError} `E_FORMAT` if formatting would change the meaning. */
const format = (path: string, text: string): string => {
  const formatted = formatManifest(text)
  if (formatted === text || meaningOf(path, formatted) === meaningOf(path, text)) return formatted
  throw new EspalierError('E_FORMAT', `${plainText(path)} cannot be formatted without changing its meaning.`, {
    hint: 'The file was not changed. Please report this bug and include the manifest.',
  })
}

/** The declarations and problems of a manifest. Line numbers are left out, because formatting may change them. */
const meaningOf = (path: string, text: string): string => {
  const { desired, diagnostics } = parseManifests([{ path, text }])
  const codes = diagnostics.map(({ code }) => code).sort()
  return canonicalJson(withoutPlaces([desired, codes]))
}

const problemsOf = (path: string, given: string): readonly Diagnostic[] =>
  parseManifests([{ path, text: given }]).diagnostics.filter(({ code }) => UNREADABLE.has(code))

const showDiff = (path: string, before: string, after: string, io: Io): void => {
  const patch = createTwoFilesPatch(path, path, before, after, '', '', { context: 3 })
  print(patch.split('\n').slice(1).map(plainText).join('\n'), io.stdout)
}
