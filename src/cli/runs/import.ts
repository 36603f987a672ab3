import { createReadApi } from '../../api/index.ts'
import { replaceFile } from '../../base/index.ts'
import type { ExportOptions } from '../../manifest/index.ts'
import { EXIT, type ExitCode, globProblem } from '../../model/index.ts'
import { counted, plainText } from '../../report/index.ts'
import { type ApiFlags, connect } from '../connect.ts'
import { usageError } from '../flags.ts'
import { exportChecked, nothingToImport, observeOne } from '../imported-manifest.ts'
import type { Io } from '../io.ts'
import { print } from '../terminal.ts'
import { importInto } from './import-into.ts'

export interface ImportFlags extends ApiFlags {
  readonly project: string
  readonly branch?: string | undefined
  readonly pin?: boolean | undefined
  readonly out?: string | undefined
  readonly noColor?: boolean | undefined
}

const SCHEMA = 'https://espalier.dev/schemas/manifest.schema.json'

/** Writes nothing that does not plan empty against what was seen. */
export const runImport = async (flags: ImportFlags, io: Io): Promise<ExitCode> => {
  const wrong = flags.branch === undefined ? undefined : globProblem(flags.branch)
  if (wrong !== undefined) throw usageError(`--branch ${flags.branch} is no glob: ${wrong}.`)
  const connection = await connect(flags, io)
  const api = createReadApi(connection.options)
  try {
    const { project, observed } = await observeOne(api, flags.project)
    const options = exportOptions(flags)
    const { out, noColor } = flags
    const merged = out === undefined ? undefined : await importInto({ out, noColor }, project, observed, options, io)
    if (merged !== undefined) return merged
    const { text, leftOut, computes } = exportChecked(project, observed, options)
    if (computes === 0) throw nothingToImport(flags.branch)
    if (out === undefined) print(text, io.stdout)
    else await replaceFile(io.locate(out), text, 'The manifest')
    tellLeftOut(leftOut, io)
    print(`${counted(computes, 'compute')} imported; the plan of this manifest is empty.`, io.stderr)
    return EXIT.ok
  } finally {
    await api.close()
    await connection.close()
  }
}

const exportOptions = ({ branch, pin }: ImportFlags): ExportOptions => ({
  ...(branch === undefined ? {} : { branches: branch }),
  pin: pin === true,
  schema: SCHEMA,
})

const tellLeftOut = (leftOut: readonly string[], io: Io): void => {
  for (const line of leftOut) print(`Left out  ${plainText(line)}`, io.stderr)
}
