/** Exports a live project as a manifest whose plan is empty. */
import { type ReadApi, snapshot } from '../api/index.ts'
import { type Exported, type ExportOptions, exportProject, parseManifests } from '../manifest/index.ts'
import { EspalierError, hasErrors, isEmptyPlan, type Observed, type ObservedProject } from '../model/index.ts'
import { plan } from '../planner/index.ts'
import { plainText } from '../report/index.ts'
import { projectIdOf, unknownProject } from './live-projects.ts'

/** @throws {EspalierError} `E_PROJECT_UNKNOWN`, `E_PROJECT_UNREADABLE` */
export const observeOne = async (
  api: ReadApi,
  idOrName: string,
): Promise<{ readonly project: ObservedProject; readonly observed: Observed }> => {
  const observed = await snapshot(api, [await projectIdOf(api, idOrName)])
  const [project] = observed.projects
  if (project !== undefined) return { project, observed }
  const [unreadable] = observed.unreadable ?? []
  if (unreadable === undefined) throw unknownProject(idOrName)
  const { id, message, hint } = unreadable
  throw new EspalierError(
    'E_PROJECT_UNREADABLE',
    `Project ${id} could not be read. ${message}.`,
    hint === undefined ? {} : { hint },
  )
}

/** @throws {EspalierError} `E_IMPORT` if its plan against the snapshot is not empty. */
export const exportChecked = (project: ObservedProject, observed: Observed, options: ExportOptions): Exported => {
  const exported = exportProject(project, options)
  const loaded = parseManifests([{ path: 'import.yaml', text: exported.text }])
  const result = hasErrors(loaded.diagnostics) ? undefined : plan(loaded.desired, observed)
  if (result?.ok === true && isEmptyPlan(result.plan)) return exported
  const [first] = result?.ok === false ? result.diagnostics : loaded.diagnostics
  const why = first?.message ?? 'its plan is not empty'
  throw new EspalierError('E_IMPORT', `The project cannot be imported: ${plainText(why)}`, {
    hint: 'Nothing was written. Try --pin, or fewer branches with --branch.',
  })
}
