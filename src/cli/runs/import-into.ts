/** `import` where the file is there already: what a person wrote stays, what is live and missing is added. */
import {
  adoptInto,
  type ExportOptions,
  exportProject,
  type LoadedManifests,
  loadManifests,
  type ManifestFile,
  parseManifests,
  readFiles,
} from '../../manifest/index.ts'
import {
  type Diagnostic,
  EspalierError,
  EXIT,
  type ExitCode,
  globMatches,
  hasErrors,
  type Observed,
  type ObservedProject,
  type Plan,
} from '../../model/index.ts'
import { plan } from '../../planner/index.ts'
import { plainText, terminalDiagnostics } from '../../report/index.ts'
import { print, styleOf } from '../terminal.ts'
import { replaceFile } from '../write-file.ts'

interface Target {
  readonly out: string
  readonly noColor?: boolean | undefined
}

/** @returns `undefined` where the file is yet to be written: there is none, or nothing is in it. */
export const importInto = async (
  target: Target,
  project: ObservedProject,
  observed: Observed,
  options: ExportOptions,
): Promise<ExitCode | undefined> => {
  const cwd = process.cwd()
  const { texts, diagnostics } = await readFiles([target.out], cwd)
  const [file] = texts
  if (file === undefined ? diagnostics[0]?.code === 'E_NOT_FOUND' : file.text.trim() === '') return undefined
  const loaded = await loadManifests([target.out], { cwd })
  if (file === undefined || hasErrors(loaded.diagnostics)) return fail(loaded.diagnostics, loaded, target)

  const others = await readFiles(
    loaded.files.filter((path) => path !== file.path),
    cwd,
  )
  const adopted = adopt(file, others.texts, loaded, project, observed, options)
  if (Array.isArray(adopted)) return fail(adopted, loaded, target)
  const { text, news, leftOut } = adopted as Result
  check(planOf([{ ...file, text }, ...others.texts], project, observed), project, options)
  if (text !== file.text) await replaceFile(target.out, text, 'The manifest')
  for (const line of leftOut) print(`Left out  ${plainText(line)}`, process.stderr)
  const scope = options.branches === undefined ? '' : ' for these branches'
  print(`${plainText(target.out)}: ${news}; the plan of this manifest is empty${scope}.`, process.stderr)
  return EXIT.ok
}

interface Result {
  readonly text: string
  readonly news: string
  readonly leftOut: readonly string[]
}

const adopt = (
  file: ManifestFile,
  shared: readonly ManifestFile[],
  loaded: LoadedManifests,
  project: ObservedProject,
  observed: Observed,
  options: ExportOptions,
): Result | readonly Diagnostic[] => {
  const documents = loaded.desired.documents.filter((one) => one.project === project.id)
  if (documents.length === 0) return appended(file, project, options)
  const result = plan({ documents }, observed)
  if (!result.ok) return result.diagnostics
  const adopted = adoptInto(file, shared, project, result.plan, options)
  if ('conflicts' in adopted) {
    return adopted.conflicts.map(({ message, source }) => ({
      severity: 'error',
      code: 'E_IMPORT',
      message,
      hint: 'Apply it, or take it out of the manifest, and import again. Nothing was written.',
      ...(source === undefined ? {} : { source }),
    }))
  }
  const { added, updated } = adopted
  return { ...adopted, news: `${count(added, 'compute')} added, ${count(updated, 'value')} updated` }
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

/** The file speaks of other projects: this one gets a document of its own, without a second line for editors. */
const appended = ({ text }: ManifestFile, project: ObservedProject, options: ExportOptions): Result => {
  const exported = exportProject(project, options)
  const own = exported.text.replace(/^# yaml-language-server:.*\n/, '')
  return {
    text: `${text}${text.endsWith('\n') ? '' : '\n'}---\n${own}`,
    news: `${count(exported.computes, 'compute')} in a document of its own`,
    leftOut: exported.leftOut,
  }
}

const planOf = (files: readonly ManifestFile[], project: ObservedProject, observed: Observed): Plan | string => {
  const { desired, diagnostics } = parseManifests(files)
  const [first] = diagnostics.filter(({ severity }) => severity === 'error')
  if (first !== undefined) return first.message
  const result = plan({ documents: desired.documents.filter((one) => one.project === project.id) }, observed)
  return result.ok ? result.plan : (result.diagnostics[0]?.message ?? 'it cannot be planned')
}

const check = (planned: Plan | string, project: ObservedProject, { branches }: ExportOptions): void => {
  const chosen = new Set(
    project.branches.filter(({ name }) => branches === undefined || globMatches(branches, name)).map(({ id }) => id),
  )
  const left = typeof planned === 'string' ? planned : planned.changes.find(({ branch }) => chosen.has(branch.id))?.id
  if (left === undefined) return
  throw new EspalierError(
    'E_IMPORT',
    `The project cannot be imported into this file: ${plainText(left)} would differ.`,
    {
      hint: 'Nothing was written. Import into a new file, and take from it what you need.',
    },
  )
}

const fail = (diagnostics: readonly Diagnostic[], loaded: LoadedManifests, target: Target): ExitCode => {
  print(terminalDiagnostics(diagnostics, styleOf(process.stderr, target), loaded.lineOf), process.stderr)
  return EXIT.error
}
