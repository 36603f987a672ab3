/** `import` into an existing file. */
import { readFile } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { replaceFile } from '../../base/index.ts'
import type { AdoptOptions } from '../../manifest/index.ts'
import { EspalierError, EXIT, type ExitCode, type Observed, type ObservedProject } from '../../model/index.ts'
import { counted, plainText, terminalDiagnostics } from '../../report/index.ts'
import { type Adoption, adoptFile } from '../../workflow/index.ts'
import type { Io } from '../io.ts'
import { print, styleOf } from '../terminal.ts'

interface Target {
  readonly out: string
  readonly noColor?: boolean | undefined
}

/** @returns `undefined` if the file does not exist, or has only comments. */
export const importInto = async (
  target: Target,
  project: ObservedProject,
  observed: Observed,
  options: AdoptOptions,
  io: Io,
): Promise<ExitCode | undefined> => {
  const text = await presentText(io.locate(target.out))
  if (text === undefined || text.replace(/^\s*#.*$/gm, '').trim() === '') return undefined
  const path = relative(io.cwd, resolve(io.cwd, target.out)).split(sep).join('/')
  const result = await adoptFile({ path, text }, project, observed, options, io.cwd)
  if (result.kind === 'problems') {
    const style = styleOf(io.stderr, target, io.env)
    print(terminalDiagnostics(result.diagnostics, style, result.loaded.lineOf), io.stderr)
    return EXIT.error
  }
  if (result.isChanged) await replaceFile(io.locate(target.out), result.text, 'The manifest')
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
  print(`${plainText(target.out)}: ${newsOf(result)}; the plan of this manifest ${plans}${scope}.`, io.stderr)
  return EXIT.ok
}

const newsOf = ({ computes: { added, updated, inNewDocument } }: Adoption): string =>
  inNewDocument > 0
    ? `${counted(inNewDocument, 'compute')} in a separate document`
    : `${counted(added, 'compute')} added, ${counted(updated, 'value')} updated`

const presentText = async (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    const why = cause.code === 'EISDIR' ? 'it is a folder' : `${cause.code ?? cause.message}`
    throw new EspalierError('E_OUT', `The manifest cannot be written to ${plainText(file)}: ${why}.`, {
      hint: 'Name a file: --out espalier.yaml',
      cause,
    })
  })
