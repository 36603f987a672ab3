/** `import` where the file is there already: what a person wrote stays, what is live and missing is added. */
import { readFile } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { replaceFile } from '../../base/index.ts'
import {
  adoptInto,
  type ExportOptions,
  exportProject,
  isChosen,
  type LoadedManifests,
  loadManifests,
  type ManifestFile,
  parseManifests,
  readFiles,
} from '../../manifest/index.ts'
import {
  type Change,
  type Diagnostic,
  EspalierError,
  EXIT,
  type ExitCode,
  hasErrors,
  type Observed,
  type ObservedProject,
  type Plan,
} from '../../model/index.ts'
import { plan } from '../../planner/index.ts'
import { counted, plainText, terminalDiagnostics } from '../../report/index.ts'
import { nothingToImport } from '../imported-manifest.ts'
import type { Io } from '../io.ts'
import { print, styleOf } from '../terminal.ts'

interface Target {
  readonly out: string
  readonly noColor?: boolean | undefined
}

/** @returns `undefined` if the file is yet to be written: there is none, or nothing is in it but comments. */
export const importInto = async (
  target: Target,
  project: ObservedProject,
  observed: Observed,
  options: ExportOptions,
  io: Io,
): Promise<ExitCode | undefined> => {
  const text = await presentText(io.locate(target.out))
  if (text === undefined || text.replace(/^\s*#.*$/gm, '').trim() === '') return undefined
  const cwd = io.cwd
  const loaded = await loadManifests([target.out], { cwd })
  const tell = (diagnostics: readonly Diagnostic[]): void =>
    print(terminalDiagnostics(diagnostics, styleOf(io.stderr, target, io.env), loaded.lineOf), io.stderr)
  if (hasErrors(loaded.diagnostics)) {
    tell(loaded.diagnostics)
    return EXIT.error
  }
  const { texts } = await readFiles(loaded.files, cwd)
  const path = relative(cwd, resolve(cwd, target.out)).split(sep).join('/')
  const others = texts.filter((one) => one.path !== path)
  const result = adopt({ path, text }, others, loaded, project, observed, options)
  if (!result.ok) {
    tell(result.diagnostics)
    return EXIT.error
  }
  check(planOf([{ path, text: result.text }, ...others], project, observed), project, options, result.pending)
  if (result.text !== text) await replaceFile(io.locate(target.out), result.text, 'The manifest')
  for (const line of result.leftOut) print(`Left out  ${plainText(line)}`, io.stderr)
  for (const line of result.notLive)
    print(`Not live  ${plainText(line)}: it stays declared, and apply creates it`, io.stderr)
  for (const line of result.toRename)
    print(`Renamed   ${plainText(line)}: it stays declared, and apply renames it`, io.stderr)
  const scope = options.branches === undefined ? '' : ' for these branches'
  const left = [
    ...(result.notLive.length === 0 ? [] : [`creates ${counted(result.notLive.length, 'compute')}`]),
    ...(result.toRename.length === 0 ? [] : [`renames ${counted(result.toRename.length, 'replica')}`]),
  ]
  const plans = left.length === 0 ? 'is empty' : left.join(' and ')
  print(`${plainText(target.out)}: ${result.news}; the plan of this manifest ${plans}${scope}.`, io.stderr)
  return EXIT.ok
}

const presentText = async (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    const why = cause.code === 'EISDIR' ? 'it is a folder' : `${cause.code ?? cause.message}`
    throw new EspalierError('E_OUT', `The manifest cannot be written to ${plainText(file)}: ${why}.`, {
      hint: 'Name a file: --out espalier.yaml',
      cause,
    })
  })

interface Adoption {
  readonly ok: true
  readonly text: string
  readonly news: string
  readonly leftOut: readonly string[]
  readonly notLive: readonly string[]
  readonly toRename: readonly string[]
  /** Ids of the changes that remain: creating what is declared and not live, renaming. */
  readonly pending: ReadonlySet<string>
}

type Result = Adoption | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

const adopt = (
  file: ManifestFile,
  shared: readonly ManifestFile[],
  loaded: LoadedManifests,
  project: ObservedProject,
  observed: Observed,
  options: ExportOptions,
): Result => {
  const documents = loaded.desired.documents.filter((one) => one.project === project.id)
  if (documents.length === 0) return appended(file, project, options)
  const planned = plan({ documents }, observed)
  if (!planned.ok) return planned
  const adopted = adoptInto(file, shared, project, planned.plan, options)
  if ('conflicts' in adopted) {
    const diagnostics = adopted.conflicts.map((one) => ({ severity: 'error', code: 'E_IMPORT', ...one }) as const)
    return { ok: false, diagnostics }
  }
  const { added, updated } = adopted
  const pending = new Set(planned.plan.changes.filter(isLeftToApply).map(({ id }) => id))
  return {
    ok: true,
    ...adopted,
    pending,
    news: `${counted(added, 'compute')} added, ${counted(updated, 'value')} updated`,
  }
}

/** After the import: what is yet to be created, and a new name where `renamedFrom` has the live one. */
const isLeftToApply = ({ kind, compute, attributes }: Change): boolean =>
  kind === 'create' || (kind === 'update' && compute.type === 'read_only' && attributes.some(isName))

const isName = ({ path }: { readonly path: string }): boolean => path === 'name'

/** The file declares other projects: this one gets a document of its own, without a second line for editors. */
const appended = ({ text }: ManifestFile, project: ObservedProject, options: ExportOptions): Result => {
  const { text: document, computes, leftOut } = exportProject(project, options)
  if (computes === 0) throw nothingToImport(options.branches)
  const own = `---\n${document.replace(/^# yaml-language-server:.*\n/, '')}`
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  return {
    ok: true,
    text: `${text}${text.endsWith('\n') ? '' : newline}${own.replaceAll('\n', newline)}`,
    news: `${counted(computes, 'compute')} in a document of its own`,
    leftOut,
    notLive: [],
    toRename: [],
    pending: new Set(),
  }
}

const planOf = (files: readonly ManifestFile[], project: ObservedProject, observed: Observed): Plan | string => {
  const { desired, diagnostics } = parseManifests(files)
  const [first] = diagnostics.filter(({ severity }) => severity === 'error')
  if (first !== undefined) return first.message
  const result = plan({ documents: desired.documents.filter((one) => one.project === project.id) }, observed)
  return result.ok ? result.plan : (result.diagnostics[0]?.message ?? 'it cannot be planned')
}

/** Of an update nothing but the name may be left. */
const isOnlyThat = ({ kind, attributes }: Change): boolean => kind === 'create' || attributes.every(isName)

const check = (
  planned: Plan | string,
  project: ObservedProject,
  options: ExportOptions,
  pending: ReadonlySet<string>,
): void => {
  const chosen = new Set(project.branches.filter(({ name }) => isChosen(name, options)).map(({ id }) => id))
  const left =
    typeof planned === 'string'
      ? planned
      : planned.changes.find(
          (change) => chosen.has(change.branch.id) && !(pending.has(change.id) && isOnlyThat(change)),
        )?.id
  if (left === undefined) return
  throw new EspalierError(
    'E_IMPORT',
    `The project cannot be imported into this file, whose plan would not be empty: ${plainText(left)}.`,
    {
      hint: 'Nothing was written. Import into a new file, and take from it what you need.',
    },
  )
}
