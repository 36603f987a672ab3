import { type ReadApi, snapshot } from '../../api/index.ts'
import type { LoadedManifests } from '../../manifest/index.ts'
import { EXIT, type ExitCode, hasErrors, type Observed, type Plan, plainJson } from '../../model/index.ts'
import { unreadProjects } from '../../planner/index.ts'
import { statusesOf, statusTable, terminalDiagnostics } from '../../report/index.ts'
import { planLive } from '../../workflow/index.ts'
import { type ApiFlags, withReadApi } from '../connect.ts'
import { durationMs, usageError } from '../flags.ts'
import type { Io } from '../io.ts'
import { readManifests } from '../manifests.ts'
import { NO_FILES, reportProblems } from '../report-problems.ts'
import { print, styleOf, tableStyle } from '../terminal.ts'
import { untilInterrupted, watchScreen } from '../watch.ts'

export interface StatusFlags extends ApiFlags {
  readonly paths: readonly string[]
  readonly project?: readonly string[] | undefined
  readonly format: string
  readonly sizeTable?: string | undefined
  readonly watch?: boolean | undefined
  readonly interval: string
  readonly noColor?: boolean | undefined
}

interface Seen {
  readonly observed: Observed
  /** Absent if no manifests were read. */
  readonly plan?: Plan
  readonly loaded?: LoadedManifests
}

export const runStatus = async (flags: StatusFlags, io: Io): Promise<ExitCode> => {
  const everyMs = durationMs('interval', flags.interval)
  if (flags.project !== undefined && flags.paths.length > 0) {
    throw usageError('--project and paths cannot be given together.')
  }
  const see = flags.project === undefined ? await byManifests(flags, io) : byProjects(flags.project, flags)
  if (see === undefined) return EXIT.error
  return withReadApi(flags, io, async (api) => {
    let code: ExitCode = EXIT.ok
    const read = async (): Promise<Seen> => {
      const seen = await see(api)
      code = leftOutOf(seen).length > 0 ? EXIT.error : EXIT.ok
      return seen
    }
    if (flags.watch !== true) show(await read(), flags, io)
    else if (isTable(flags)) {
      const draw = (seen: Seen): string => `${textOf(seen, flags, io)}\n${problemsOf(seen, flags, io)}`
      await watchScreen({ title: `espalier status, every ${flags.interval}.`, everyMs, read, draw }, io)
    } else await untilInterrupted(everyMs, async () => show(await read(), flags, io), io)
    return code
  })
}

const isTable = ({ format }: StatusFlags): boolean => format === 'terminal' || format === 'wide'

const byProjects =
  (projects: readonly string[], { concurrency }: StatusFlags) =>
  async (api: ReadApi): Promise<Seen> => ({ observed: await snapshot(api, projects, { concurrency }) })

/** The projects of the manifests; which computes they manage is known only if they can be planned. */
const byManifests = async (flags: StatusFlags, io: Io): Promise<((api: ReadApi) => Promise<Seen>) | undefined> => {
  const manifests = await readManifests(flags.paths, flags.sizeTable, io)
  if (hasErrors(manifests.loaded.diagnostics)) {
    reportProblems(manifests.loaded.diagnostics, manifests.loaded, { ...flags, format: 'terminal' }, io)
    return undefined
  }
  return async (api) => {
    const { observed, result } = await planLive(api, manifests, { concurrency: flags.concurrency, estimate: false })
    return { observed, plan: result.plan, loaded: manifests.loaded }
  }
}

const leftOutOf = ({ observed, plan }: Seen) => (plan === undefined ? unreadProjects(observed) : (plan.leftOut ?? []))

const show = (seen: Seen, flags: StatusFlags, io: Io): void => {
  print(textOf(seen, flags, io), io.stdout)
  print(problemsOf(seen, flags, io), io.stderr)
}

const textOf = (seen: Seen, flags: StatusFlags, io: Io): string => {
  const { observed, plan } = seen
  const context = { now: io.clock.date(), ...(plan === undefined ? {} : { plan }) }
  if (isTable(flags)) {
    return statusTable(observed.projects, context, tableStyle(io.stdout, flags, io.env), flags.format === 'wide')
  }
  const computes = statusesOf(observed.projects, context)
  if (flags.format === 'name') return computes.map(({ id }) => id).join('\n')
  const leftOut = leftOutOf(seen)
  const problems = leftOut.length === 0 ? {} : { leftOut }
  return plainJson({ takenAt: observed.takenAt, computes, missing: observed.missing, ...problems }, 2)
}

const problemsOf = (seen: Seen, flags: StatusFlags, io: Io): string => {
  const { lineOf } = seen.loaded ?? NO_FILES
  const style = styleOf(io.stderr, flags, io.env)
  return leftOutOf(seen)
    .map(({ diagnostics }) => terminalDiagnostics(diagnostics, style, lineOf))
    .join('')
}
