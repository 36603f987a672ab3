import { resolvedManifests, resolvedText } from '../../manifest/index.ts'
import { EXIT, type ExitCode, hasErrors, plainJson } from '../../model/index.ts'
import type { ShowFlags } from '../commands/show.ts'
import { usageError } from '../flags.ts'
import type { Io } from '../io.ts'
import { readManifests } from '../manifests.ts'
import { printProblems } from '../report-problems.ts'
import { print } from '../terminal.ts'

/** Prints manifests with profiles, rules and shared files merged, and the place that each value comes from. */
export const runShowResolved = async (flags: ShowFlags, io: Io): Promise<ExitCode> => {
  if (flags.format === 'markdown' || flags.html !== undefined) {
    throw usageError(
      '`show --resolved` prints YAML or JSON to stdout.',
      'Use --format json, and redirect stdout to write a file.',
    )
  }
  const { loaded } = await readManifests([flags.ref], io)
  if (loaded.diagnostics.length > 0) {
    printProblems(loaded.diagnostics, flags, io, loaded.lineOf)
  }
  if (hasErrors(loaded.diagnostics)) return EXIT.error
  const resolved = resolvedManifests(loaded.desired)
  print(flags.format === 'json' ? plainJson(resolved, 2) : resolvedText(resolved).trimEnd(), io.stdout)
  return EXIT.ok
}
