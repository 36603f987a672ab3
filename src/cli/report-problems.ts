/** Prints diagnostics in the requested format. */
import type { LoadedManifests } from '../manifest/index.ts'
import type { Diagnostic, Plan } from '../model/index.ts'
import { jsonDiagnostics, plainText, projectsLeftOut, projectTitle, terminalDiagnostics } from '../report/index.ts'
import type { Io } from './io.ts'
import { print, styleOf } from './terminal.ts'

/** JSON goes to stdout, for programs; text for people goes to stderr. */
export const reportProblems = (
  diagnostics: readonly Diagnostic[],
  loaded: Pick<LoadedManifests, 'files' | 'lineOf'>,
  flags: { readonly format: string; readonly noColor?: boolean | undefined },
  io: Io,
): void => {
  if (flags.format === 'json') print(jsonDiagnostics(diagnostics, { files: loaded.files }), io.stdout)
  else print(terminalDiagnostics(diagnostics, styleOf(io.stderr, flags, io.env), loaded.lineOf), io.stderr)
}

/** For problems that are not in manifests. */
export const NO_FILES: Pick<LoadedManifests, 'files' | 'lineOf'> = { files: [], lineOf: () => undefined }

/**
 * Names the projects that a plan leaves out; the plan itself shows the reasons.
 *
 * @returns whether the plan is complete.
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
