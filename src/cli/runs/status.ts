import { createReadApi, type ReadApi, snapshot } from '../../api/index.ts'
import type { LoadedManifests } from '../../manifest/index.ts'
import { EXIT, type ExitCode, hasErrors, type Observed, type Plan, plainJson, plainText } from '../../model/index.ts'
import { unreadProjects } from '../../planner/index.ts'
import { claimsOf, statusOf, statusTable } from '../../report/index.ts'
import { planLive } from '../../workflow/index.ts'
import { type ApiFlags, connect } from '../connect.ts'
import { durationMs, usageError } from '../flags.ts'
import type { Io } from '../io.ts'
import { readManifests } from '../manifests.ts'
import { NO_FILES, reportProblems } from '../report-problems.ts'
import { print, styleOf } from '../terminal.ts'
import { redraw, untilInterrupted } from '../watch.ts'

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
  /** Absent where no manifests were read. */
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
  const connection = await connect(flags, io)
  const api = createReadApi(connection.options)
  let code: ExitCode = EXIT.ok
  try {
    const show = async (): Promise<void> => {
      const seen = await see(api)
      if (flags.watch === true && flags.format === 'terminal') redraw(io)
      code = tell(seen, flags, io)
    }
    if (flags.watch === true) await untilInterrupted(everyMs, show, io)
    else await show()
    return code
  } finally {
    await api.close()
    await connection.close()
  }
}

const byProjects =
  (projects: readonly string[], { concurrency }: StatusFlags) =>
  async (api: ReadApi): Promise<Seen> => ({ observed: await snapshot(api, projects, { concurrency }) })

/** Of what the manifests name; who claims what is known only where they can be planned. */
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

const tell = ({ observed, plan, loaded }: Seen, flags: StatusFlags, io: Io): ExitCode => {
  const context = { takenAt: observed.takenAt, ...(plan === undefined ? {} : { claims: claimsOf(plan) }) }
  const leftOut = plan === undefined ? unreadProjects(observed) : (plan.leftOut ?? [])
  if (flags.format === 'json') {
    const computes = observed.projects.flatMap((project) =>
      project.computes.map((compute) => statusOf(compute, project, context)),
    )
    const problems = leftOut.length === 0 ? {} : { leftOut }
    print(plainJson({ takenAt: observed.takenAt, computes, missing: observed.missing, ...problems }, 2), io.stdout)
  } else print(statusTable(observed.projects, context, styleOf(io.stdout, flags, io.env)), io.stdout)
  for (const { project, diagnostics } of leftOut) {
    if (observed.projects.some(({ id }) => id === project)) {
      print(plainText(`Error  It is not known which computes of ${project} are managed:`), io.stderr)
    }
    reportProblems(diagnostics, loaded ?? NO_FILES, { ...flags, format: 'terminal' }, io)
  }
  return leftOut.length > 0 ? EXIT.error : EXIT.ok
}
