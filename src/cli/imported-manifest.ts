/** A live project as a manifest whose plan is empty. */
import { projectsNamed, type ReadApi, snapshot } from '../api/index.ts'
import { type Exported, type ExportOptions, exportProject, parseManifests } from '../manifest/index.ts'
import { EspalierError, hasErrors, ID, isEmptyPlan, type Observed, type ObservedProject } from '../model/index.ts'
import { plan } from '../planner/index.ts'
import { plainText } from '../report/index.ts'

/**
 * @param idOrName a name counts where no project has it as its id.
 * @throws {EspalierError} `E_PROJECT_UNKNOWN`, `E_PROJECT_UNREADABLE`
 */
export const observeOne = async (
  api: ReadApi,
  idOrName: string,
): Promise<{ readonly project: ObservedProject; readonly observed: Observed }> => {
  const found = ID.test(idOrName) ? await snapshot(api, [idOrName]) : undefined
  const [project] = found?.projects ?? []
  if (found !== undefined && project !== undefined) return { project, observed: found }
  const [unreadable] = found?.unreadable ?? []
  if (unreadable !== undefined) {
    const { id, message, hint } = unreadable
    throw new EspalierError(
      'E_PROJECT_UNREADABLE',
      `Project ${id} could not be read. ${message}.`,
      hint === undefined ? {} : { hint },
    )
  }
  const ids = found === undefined ? await idsOf(api, idOrName) : (found.namesakes?.[0]?.ids ?? [])
  const [only, second] = ids
  if (only !== undefined && second === undefined) return observeOne(api, only)
  const shown = plainText(idOrName)
  if (only === undefined) {
    throw new EspalierError('E_PROJECT_UNKNOWN', `No project has the id or name ${shown}, or the key cannot see it.`, {
      hint: 'Check the project and the key.',
    })
  }
  throw new EspalierError('E_PROJECT_UNKNOWN', `${ids.length} projects have the name ${shown}.`, {
    hint: `Use an id: ${ids.join(', ')}.`,
  })
}

const idsOf = async (api: ReadApi, name: string): Promise<readonly string[]> =>
  (await projectsNamed(api, name)).map(({ id }) => id)

/** @throws {EspalierError} `E_IMPORT` if its plan against what was seen is not empty. */
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
