/** Writes live values into an existing manifest, and preserves the parts of it that were written by hand. */

import { EspalierError, plainText } from '../base/index.ts'
import {
  type AdoptOptions,
  adoptInto,
  exportProject,
  type InferredRule,
  isChosen,
  type LoadedManifests,
  loadManifests,
  type ManifestFile,
  parseManifests,
  readFiles,
} from '../manifest/index.ts'
import { type Change, type Diagnostic, hasErrors, type Observed, type ObservedProject } from '../model/index.ts'
import { plan } from '../planner/index.ts'

export interface Adoption {
  readonly kind: 'adopted'
  readonly text: string
  readonly isChanged: boolean
  readonly computes: { readonly added: number; readonly updated: number; readonly inNewDocument: number }
  readonly reasons: readonly string[]
  readonly rules: readonly InferredRule[]
  readonly leftOut: readonly string[]
  readonly notLive: readonly string[]
  readonly toRename: readonly string[]
  /** The ids of the changes that still have to be applied, which are creates and renames. */
  readonly pending: ReadonlySet<string>
}

export interface NotAdopted {
  readonly kind: 'problems'
  readonly diagnostics: readonly Diagnostic[]
  readonly loaded: LoadedManifests
}

/**
 * Returns the new text of a manifest. The plan of that text contains nothing but the creates and renames in `pending`.
 *
 * @param file the manifest. Its path is relative to `cwd` and has forward slashes.
 * @throws {EspalierError} `E_IMPORT` if the plan would contain other changes, or there is nothing to import.
 */
export const adoptFile = async (
  file: ManifestFile,
  project: ObservedProject,
  observed: Observed,
  options: AdoptOptions,
  cwd: string,
): Promise<Adoption | NotAdopted> => {
  const { path } = file
  const loaded = await loadManifests([path], cwd)
  if (hasErrors(loaded.diagnostics)) return { kind: 'problems', diagnostics: loaded.diagnostics, loaded }
  const { texts } = await readFiles(loaded.files, cwd)
  const others = texts.filter((one) => one.path !== path)
  const attempt = (infersRules: boolean) => {
    const result = adopt(file, others, loaded, project, observed, { ...options, infersRules })
    if (result.kind === 'problems') return { result }
    const texts = [{ path, text: result.text }, ...others]
    return { result, left: changeLeft(texts, project, observed, options, result.pending) }
  }
  const withRules = attempt(true)
  const isUsable = withRules.result.kind === 'adopted' && withRules.left === undefined
  // With the document's defaults, a rule may change branches. They are then listed.
  const { result, left } = isUsable ? withRules : attempt(false)
  if (left === undefined) return result
  throw new EspalierError(
    'E_IMPORT',
    `The project cannot be imported into this file: its plan would not be empty (${plainText(left)}).`,
    { hint: 'Nothing was written. Import into a new file, and copy the parts that you need.' },
  )
}

const adopt = (
  file: ManifestFile,
  shared: readonly ManifestFile[],
  loaded: LoadedManifests,
  project: ObservedProject,
  observed: Observed,
  options: AdoptOptions,
): Adoption | NotAdopted => {
  const documents = loaded.desired.documents.filter((one) => one.project === project.id)
  if (documents.length === 0) return appended(file, project, options)
  const planned = plan({ documents }, observed)
  if (!planned.ok) return { kind: 'problems', diagnostics: planned.diagnostics, loaded }
  const adopted = adoptInto(file, shared, project, planned.plan, options)
  if ('conflicts' in adopted) {
    const diagnostics = adopted.conflicts.map((one) => ({ severity: 'error', code: 'E_IMPORT', ...one }) as const)
    return { kind: 'problems', diagnostics, loaded }
  }
  const { added, updated, ...rest } = adopted
  // After the import, `apply` still has to create computes that are missing, and to rename those with `renamedFrom`.
  const pending = planned.plan.changes.filter(
    ({ kind, compute, attributes }) =>
      kind === 'create' || (kind === 'update' && compute.type === 'read_only' && attributes.some(isName)),
  )
  return {
    kind: 'adopted',
    ...rest,
    reasons: [],
    isChanged: adopted.text !== file.text,
    computes: { added, updated, inNewDocument: 0 },
    pending: new Set(pending.map(({ id }) => id)),
  }
}

const isName = ({ path }: { readonly path: string }): boolean => path === 'name'

/** Adds a document for the project to a file with other projects, without repeating the schema comment for editors. */
const appended = ({ text }: ManifestFile, project: ObservedProject, options: AdoptOptions): Adoption => {
  const { text: document, computes, ...notes } = exportProject(project, { ...options, schema: '' })
  if (computes === 0) throw nothingToImport(options.branches)
  const added = `---\n${document.replace(/^# yaml-language-server:.*\n/, '')}`
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  return {
    kind: 'adopted',
    text: `${text}${text.endsWith('\n') ? '' : newline}${added.replaceAll('\n', newline)}`,
    isChanged: true,
    computes: { added: 0, updated: 0, inNewDocument: computes },
    ...notes,
    notLive: [],
    toRename: [],
    pending: new Set(),
  }
}

export const nothingToImport = (branches: readonly string[] | undefined): EspalierError =>
  new EspalierError('E_IMPORT', 'There is no compute to import.', {
    hint: branches === undefined ? 'The project has no compute that a manifest can declare.' : 'Use a wider --branch.',
  })

/**
 * Looks for an unexpected change in the plan of the new manifests.
 *
 * @param files the manifest and the shared files that it extends.
 * @param pending the ids of the creates and renames that the plan may contain.
 * @returns an error message, the id of an unexpected change, or `undefined` if there is none.
 */
const changeLeft = (
  files: readonly ManifestFile[],
  project: ObservedProject,
  observed: Observed,
  options: AdoptOptions,
  pending: ReadonlySet<string>,
): string | undefined => {
  const { desired, diagnostics } = parseManifests(files)
  const error = diagnostics.find(({ severity }) => severity === 'error')
  if (error !== undefined) return error.message
  const result = plan({ documents: desired.documents.filter((one) => one.project === project.id) }, observed)
  if (!result.ok) return result.diagnostics[0]?.message ?? 'it cannot be planned'
  const chosen = new Set(project.branches.filter(({ name }) => isChosen(name, options)).map(({ id }) => id))
  const isExpected = ({ id, kind, attributes }: Change): boolean =>
    pending.has(id) && (kind === 'create' || attributes.every(isName))
  return result.plan.changes.find((change) => chosen.has(change.branch.id) && !isExpected(change))?.id
}
