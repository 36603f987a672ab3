/** Writes live values into the manifests, to accept drift. Changes only files in the checkout. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { counted, EspalierError, plainText, replaceFile } from '../base/index.ts'
import { type Desired, hasErrors } from '../model/index.ts'
import { adoptFile, planLive, readManifests } from '../workflow/index.ts'
import { type Ending, type Job, withReadClient } from './job.ts'
import { reportProblems } from './report-failure.ts'

/**
 * Only branches with drift are imported, so unmanaged computes on other branches stay unmanaged. The problems of
 * projects that cannot be planned are reported once the other projects are imported.
 */
export const runImport = async (job: Job): Promise<Ending> => {
  const { inputs, runner, cwd, event } = job
  if (event.pullRequest !== undefined) {
    throw new EspalierError('E_INPUT', 'The command import cannot run for a pull request.', {
      hint: 'Run it on a schedule, on a checkout of a branch, and open a pull request with its changes.',
    })
  }
  const manifests = await readManifests(inputs.paths, { cwd })
  const { diagnostics, desired } = manifests.loaded
  if (hasErrors(diagnostics)) return reportProblems(job, diagnostics)
  const { result, observed } = await withReadClient(job, (api) =>
    planLive(api, manifests, { clock: job.clock, readsOperations: false }),
  )
  if (!result.ok && result.plan.projects.length === 0)
    return reportProblems(job, [...diagnostics, ...result.diagnostics])
  const changed: string[] = []
  const notes: string[] = []
  for (const [project, path] of placesOf(desired)) {
    const seen = observed.projects.find(({ id }) => id === project)
    const own = result.plan.changes.filter((change) => change.project === project)
    const branches = [...new Set(own.flatMap(({ branch, from = branch }) => [branch.name, from.name]))]
    if (seen === undefined || branches.length === 0) continue
    const text = await readFile(resolve(cwd, path), 'utf8')
    const adopted = await adoptFile({ path, text }, seen, observed, { branches, pin: false }, cwd)
    if (adopted.kind === 'problems') return reportProblems(job, adopted.diagnostics)
    notes.push(...[...adopted.notLive, ...adopted.toRename].map((line) => `${plainText(line)} stays declared`))
    if (!adopted.isChanged) continue
    await replaceFile(resolve(cwd, path), adopted.text, 'The manifest')
    changed.push(path)
    runner.print(`${plainText(path)}: ${adopted.computes.added} added, ${adopted.computes.updated} values updated`)
  }
  for (const note of notes) runner.notice(note)
  const files = [...new Set(changed)]
  runner.output('changed-files', files.join('\n'))
  runner.output('has-changes', files.length > 0)
  const words = files.length === 0 ? 'no drift' : `${counted(files.length, 'manifest')} changed`
  runner.summary(`### Espalier import: ${words}\n`)
  return result.ok ? '' : reportProblems(job, result.diagnostics)
}

/** Maps each project to the file that declares it. @throws {EspalierError} `E_IMPORT` if several files declare it. */
const placesOf = ({ documents }: Desired): ReadonlyMap<string, string> => {
  const places = new Map<string, string>()
  for (const { project, source } of documents) {
    const known = places.get(project) ?? source.file
    if (known !== source.file) {
      throw new EspalierError('E_IMPORT', `The project ${project} is declared in ${known} and in ${source.file}.`, {
        hint: `Nothing was written. For each file, name its branches: \`espalier import --project ${project} --branch NAME --out FILE\`.`,
      })
    }
    places.set(project, known)
  }
  return places
}
