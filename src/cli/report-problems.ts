/** Diagnostics of manifests, or of what they ask of the live projects, in the format that was asked for. */
import type { LoadedManifests } from '../manifest/index.ts'
import type { Diagnostic, Plan } from '../model/index.ts'
import { jsonDiagnostics, plainText, projectsLeftOut, projectTitle, terminalDiagnostics } from '../report/index.ts'
import type { Io } from './io.ts'
import { print, styleOf } from './terminal.ts'

/** JSON goes to stdout, since a program reads it there; words for people go to stderr. */
export const reportProblems = (
  diagnostics: readonly Diagnostic[],
  loaded: Pick<LoadedManifests, 'files' | 'lineOf'>,
  flags: { readonly format: string; readonly noColor?: boolean | undefined },
  io: Io,
): void => {
  if (flags.format === 'json') print(jsonDiagnostics(diagnostics, { files: loaded.files }), io.stdout)
  else print(terminalDiagnostics(diagnostics, styleOf(io.stderr, flags, io.env), loaded.lineOf), io.stderr)
}

/** Where the problems are of no manifest. */
export const NO_FILES: Pick<LoadedManifests, 'files' | 'lineOf'> = { files: [], lineOf: () => undefined }

/**
 * Says which projects a plan that was shown leaves out; the reasons are in the plan.
 *
 * @returns whether it leaves out none.
 */
export const reportLeftOut = (plan: Plan, io: Io): boolean => {
  const { leftOut = [] } = plan
  if (leftOut.length === 0) return true
  const titleOf = projectTitle(plan)
  const names = leftOut.slice(0, MOST_NAMED).map(({ project }) => plainText(titleOf(project)))
  const more = leftOut.length > names.length ? ', …' : ''
  print(`Error  ${projectsLeftOut(plan)} could not be planned: ${names.join(', ')}${more}.`, io.stderr)
  return false
}

const MOST_NAMED = 10
