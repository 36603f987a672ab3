import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { EspalierError, EXIT, type ExitCode, withoutSecrets } from '../../base/index.ts'
import type { ReachableCompute } from '../../sandbox/index.ts'
import { matchingProjects } from '../../workflow/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { chooseCompute } from '../setup/compute-ref.ts'
import { number, text, toggle, usageError } from '../setup/flags.ts'
import type { Io } from '../setup/io.ts'
import { checkGlobs } from '../setup/live-projects.ts'
import { type RegisteredSandbox, registered } from '../setup/sandbox-registry.ts'
import { print } from '../terminal/terminal.ts'

const PORT = { max: 65_535 } as const

const DESCRIPTION = {
  positionals: {
    ref: { describe: 'A compute, given as its id, BRANCH (for its primary) or BRANCH/REPLICA' },
  },
  flags: {
    psql: toggle('', 'Open psql'),
    pooled: toggle('', 'Connect through PgBouncer, in transaction mode'),
    port: number(
      '',
      'API port of the sandbox, required if several are running and ESPALIER_BASE_URL names none of them',
      PORT,
    ),
    project: text('', 'Limit to projects whose id or name matches GLOB; repeatable', { value: 'GLOB', array: true }),
  },
  examples: [
    ['$0 sandbox connect main', 'Print a connection string for the primary on main'],
    ['$0 sandbox connect main --psql', 'Connect to the primary on main with psql'],
    ['psql "$($0 sandbox connect main/reporting)"', 'Connect to a replica'],
  ],
  notes: `An idle compute starts when a client connects, unless it is disabled.

Exit codes:
  0   the connection string was printed, or psql succeeded
  1   wrong usage, no such sandbox or real compute, or psql failed`,
} as const satisfies Description

type ConnectFlags = ValuesOf<typeof DESCRIPTION>

export const connectCommand = commandOf(DESCRIPTION, async (flags, io) => {
  const compute = choose(await computesOf(chooseSandbox(flags.port, io)), flags)
  const target = flags.pooled === true ? compute.pooledUri : compute.uri
  if (target === undefined && compute.uri !== undefined) {
    throw usageError('Pooled connections need PgBouncer, which is not installed.', 'Install it, or omit --pooled.')
  }
  if (target === undefined) {
    throw new EspalierError('E_NO_SANDBOX', `${compute.id} has no Postgres: this sandbox simulates computes.`, {
      hint: 'To use real computes, run: espalier sandbox serve --computes postgres',
    })
  }
  if (flags.psql !== true) {
    print(target, io.stdout)
    return EXIT.ok
  }
  return runPsql(target, io)
})

const chooseSandbox = (port: number | undefined, io: Io): RegisteredSandbox => {
  const running = registered(io)
  const chosen = port === undefined ? sandboxFromEnvironment(running, io) : running.filter((one) => one.port === port)
  const [only] = chosen
  if (only === undefined) {
    throw new EspalierError(
      'E_NO_SANDBOX',
      `You have no running sandbox${port === undefined ? '' : ` on port ${port}`}.`,
      {
        hint: 'To start one, run: espalier sandbox serve',
      },
    )
  }
  if (chosen.length > 1) {
    const ports = chosen.map((sandbox) => sandbox.port).join(', ')
    throw usageError(
      `${chosen.length} sandboxes are running, on ports ${ports}.`,
      'Choose one with --port, or set ESPALIER_BASE_URL.',
    )
  }
  return only
}

/** If several sandboxes are running, chooses the one at `ESPALIER_BASE_URL`. */
const sandboxFromEnvironment = (running: readonly RegisteredSandbox[], { env }: Io): readonly RegisteredSandbox[] => {
  const url = env.ESPALIER_BASE_URL ?? ''
  const port = URL.canParse(url) ? Number(new URL(url).port) : undefined
  const found = running.filter((sandbox) => sandbox.port === port)
  return running.length > 1 && found.length > 0 ? found : running
}

const computesOf = async ({ controlUrl, controlToken }: RegisteredSandbox): Promise<readonly ReachableCompute[]> => {
  const response = await fetch(`${controlUrl}/computes`, { headers: { authorization: `Bearer ${controlToken}` } })
  const { computes } = (await response.json()) as { readonly computes: readonly ReachableCompute[] }
  return computes
}

const choose = (computes: readonly ReachableCompute[], { ref, project: patterns }: ConnectFlags): ReachableCompute => {
  checkGlobs('project', patterns)
  const projects = computes.map(({ projectId: id, projectName: name }) => ({ id, name }))
  const chosen = new Set(patterns?.flatMap((pattern) => matchingProjects(pattern, projects)))
  return chooseCompute(
    ref,
    computes.filter(({ projectId }) => patterns === undefined || chosen.has(projectId)),
  )
}

const runPsql = async (uri: string, io: Io): Promise<ExitCode> => {
  // Ctrl-C is left to psql, where it cancels a query.
  const release = io.onSignal('SIGINT', () => undefined)
  const psql = spawn('psql', [uri], { stdio: 'inherit', env: withoutSecrets(io.env) })
  try {
    const [code] = await once(psql, 'exit')
    return code === 0 ? EXIT.ok : EXIT.error
  } catch (cause) {
    throw new EspalierError('E_PSQL', 'psql cannot be started.', {
      hint: 'Install psql, or use the connection string with another client.',
      cause,
    })
  } finally {
    release()
  }
}
