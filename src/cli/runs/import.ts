import { writeFile } from 'node:fs/promises'
import { createReadApi, snapshot } from '../../api/index.ts'
import { exportProject, parseManifests } from '../../manifest/index.ts'
import { EspalierError, EXIT, type ExitCode, globProblem, hasErrors, isEmptyPlan } from '../../model/index.ts'
import { plan } from '../../planner/index.ts'
import { plainText } from '../../report/index.ts'
import { type ApiFlags, connect } from '../connect.ts'
import { usageError } from '../flags.ts'
import { print } from '../terminal.ts'

export interface ImportFlags extends ApiFlags {
  readonly project: string
  readonly branch?: string | undefined
  readonly pin?: boolean | undefined
  readonly out?: string | undefined
}

const SCHEMA = 'https://espalier.dev/schemas/manifest.schema.json'

/** Writes nothing that does not plan empty against what was seen. */
export const runImport = async (flags: ImportFlags): Promise<ExitCode> => {
  const wrong = flags.branch === undefined ? undefined : globProblem(flags.branch)
  if (wrong !== undefined) throw usageError(`--branch ${flags.branch} is no glob: ${wrong}.`)
  const connection = await connect(flags)
  const api = createReadApi(connection.options)
  try {
    const observed = await snapshot(api, [flags.project])
    const [project] = observed.projects
    if (project === undefined) {
      throw new EspalierError('E_PROJECT_UNKNOWN', `There is no project ${flags.project}, or the key cannot see it.`, {
        hint: 'Check the id and the key.',
      })
    }
    const { text, leftOut, computes } = exportProject(project, {
      ...(flags.branch === undefined ? {} : { branches: flags.branch }),
      pin: flags.pin === true,
      schema: SCHEMA,
    })
    if (computes === 0) {
      throw new EspalierError('E_IMPORT', 'There is no compute to import.', {
        hint: flags.branch === undefined ? 'The project has none that a manifest can declare.' : 'Widen --branch.',
      })
    }
    check(text, observed)
    if (flags.out === undefined) print(text)
    else await write(flags.out, text)
    for (const line of leftOut) print(`Left out  ${plainText(line)}`, process.stderr)
    print(`${computes} computes imported; the plan of this manifest is empty.`, process.stderr)
    return EXIT.ok
  } finally {
    await api.close()
    await connection.close()
  }
}

const check = (text: string, observed: Parameters<typeof plan>[1]): void => {
  const loaded = parseManifests([{ path: 'import.yaml', text }])
  const result = hasErrors(loaded.diagnostics) ? undefined : plan(loaded.desired, observed)
  if (result?.ok === true && isEmptyPlan(result.plan)) return
  const [first] = result?.ok === false ? result.diagnostics : loaded.diagnostics
  const why = first?.message ?? 'its plan is not empty'
  throw new EspalierError('E_IMPORT', `The project cannot be imported as it is: ${plainText(why)}`, {
    hint: 'Nothing was written. Import fewer branches with --branch, or with --pin.',
  })
}

/** Never over a file that is there: what a person wrote in it would be lost. */
const write = async (file: string, text: string): Promise<void> => {
  await writeFile(file, text, { flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'EEXIST' ? 'it is there already' : (cause.code ?? cause.message)
    throw new EspalierError('E_OUT', `The manifest cannot be written to ${file} (${why}).`, {
      hint: 'Name a new file, and take from it what you need.',
      cause,
    })
  })
}
