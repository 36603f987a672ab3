/** A live project as a manifest whose plan is empty. */
import { type ReadApi, snapshot } from '../api/index.ts'
import { type Exported, type ExportOptions, exportProject, parseManifests } from '../manifest/index.ts'
import { EspalierError, hasErrors, isEmptyPlan, type Observed, type ObservedProject } from '../model/index.ts'
import { plan } from '../planner/index.ts'
import { plainText } from '../report/index.ts'

/** @throws {EspalierError} `E_PROJECT_UNKNOWN`, `E_IMPORT` */
export const importedManifest = async (api: ReadApi, id: string, options: ExportOptions): Promise<Exported> => {
  const { project, observed } = await observeOne(api, id)
  return exportChecked(project, observed, options)
}

/** @throws {EspalierError} `E_PROJECT_UNKNOWN` */
export const observeOne = async (
  api: ReadApi,
  id: string,
): Promise<{ readonly project: ObservedProject; readonly observed: Observed }> => {
  const observed = await snapshot(api, [id])
  const [project] = observed.projects
  if (project !== undefined) return { project, observed }
  throw new EspalierError('E_PROJECT_UNKNOWN', `There is no project ${id}, or the key cannot see it.`, {
    hint: 'Check the id and the key.',
  })
}

/** @throws {EspalierError} `E_IMPORT` where its plan against what was seen is not empty. */
export const exportChecked = (project: ObservedProject, observed: Observed, options: ExportOptions): Exported => {
  const exported = exportProject(project, options)
  const loaded = parseManifests([{ path: 'import.yaml', text: exported.text }])
  const result = hasErrors(loaded.diagnostics) ? undefined : plan(loaded.desired, observed)
  if (result?.ok === true && isEmptyPlan(result.plan)) return exported
  const [first] = result?.ok === false ? result.diagnostics : loaded.diagnostics
  const why = first?.message ?? 'its plan is not empty'
  throw new EspalierError('E_IMPORT', `The project cannot be imported as it is: ${plainText(why)}`, {
    hint: 'Nothing was written. Import fewer branches with --branch, or with --pin.',
  })
}

export const nothingToImport = (branches: string | undefined): EspalierError =>
  new EspalierError('E_IMPORT', 'There is no compute to import.', {
    hint: branches === undefined ? 'The project has none that a manifest can declare.' : 'Widen --branch.',
  })
