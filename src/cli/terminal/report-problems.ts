/** Prints diagnostics and notes. */
import { listed, plainText } from '../../base/index.ts'
import type { LoadedManifests } from '../../manifest/index.ts'
import type { Diagnostic, Plan } from '../../model/index.ts'
import { jsonDiagnostics, projectsLeftOut, projectTitle, terminalDiagnostics } from '../../report/index.ts'
import type { Io } from '../setup/io.ts'
import { completeCommands } from '../setup/suggested-commands.ts'
import { print, type StyleFlags, styleOf } from './terminal.ts'

/** Prints problems on stderr, for people. `lineOf` is needed only for problems in manifests. */
export const printProblems = (
  diagnostics: readonly Diagnostic[],
  flags: StyleFlags,
  io: Io,
  lineOf: LoadedManifests['lineOf'] = () => undefined,
): void => print(terminalDiagnostics(diagnostics, styleOf(io.stderr, flags, io.env), lineOf), io.stderr)

/** Prints problems. With `--format json`, they are printed on stdout, for programs. */
export const reportProblems = (
  diagnostics: readonly Diagnostic[],
  { files, lineOf }: LoadedManifests,
  flags: StyleFlags & { readonly format: string },
  io: Io,
): void => {
  if (flags.format === 'json') print(jsonDiagnostics(diagnostics, { files }), io.stdout)
  else printProblems(diagnostics, flags, io, lineOf)
}

export const printNote = (note: string | undefined, { invocation }: StyleFlags, { stderr }: Io): void => {
  if (note !== undefined) print(`Note  ${completeCommands(note, invocation)}`, stderr)
}

/**
 * Names the projects that a plan leaves out. The plan itself shows the reasons.
 *
 * @returns whether the plan is complete.
 */
export const reportLeftOut = (plan: Plan, io: Io): boolean => {
  const { leftOut = [] } = plan
  if (leftOut.length === 0) return true
  const titleOf = projectTitle(plan)
  const names = leftOut.map(({ project }) => plainText(titleOf(project)))
  print(`error  ${projectsLeftOut(plan)} could not be planned: ${listed(names)}.`, io.stderr)
  return false
}
