/** A sandbox with real Postgres computes, and clients that record when their connection ends. */
import { execFileSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { packageFolder } from '../../src/sandbox/computes/postgres/binaries.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import { type Call, caller } from '../sandbox/open-sandbox.ts'

/** The binaries that `npm ci` installs, so that they are the same on every machine. */
export const POSTGRES_BIN = packageFolder()

export const openReal = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  if (POSTGRES_BIN === undefined) throw new Error('npm ci did not install the Postgres of this platform')
  return startSandbox({ computes: { kind: 'postgres', bin: POSTGRES_BIN }, ...options })
}

export interface Patient {
  readonly sandbox: Sandbox
  /** Like any client, sends a request again while its project is locked. */
  readonly call: Call
  /** Resolves when an operation changes its status. */
  change(): Promise<unknown>
}

export const openPatient = async (options: SandboxOptions = {}): Promise<Patient> => {
  let wake: () => void = () => undefined
  let changed = Promise.resolve()
  const wait = (): void => {
    wake()
    changed = new Promise((resolve) => {
      wake = resolve
    })
  }
  wait()
  const sandbox = await openReal({
    ...options,
    log: (line) => {
      options.log?.(line)
      if (line.startsWith('operation  ')) wait()
    },
  })
  const send = caller(sandbox)
  // A project is also locked, without an operation, while its computes start for a request.
  const change = (): Promise<unknown> => Promise.race([changed, setTimeout(500)])
  const call: Call = async (...request) => {
    for (;;) {
      const next = change()
      const answer = await send(...request)
      if (answer.status !== 423) return answer
      await next
    }
  }
  return { sandbox, call, change }
}

/** The sandbox runs until the end of the test. */
export const withReal = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const sandbox = await openReal(options)
  onTestFinished(() => sandbox.close())
  return sandbox
}

/** The Postgres servers whose data is in a folder, without their own processes, which bear the same name at first. */
export const serversIn = (folder: string): readonly string[] => {
  const all = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('postgres -D') && line.includes(`${folder}/`))
    .map((line) => line.trim().split(/\s+/))
  return all.flatMap(([pid = '', parent]) => (all.some(([other]) => other === parent) ? [] : pid))
}

export interface Client {
  query(sql: string): Promise<readonly Record<string, unknown>[]>
  /** SQLSTATE with which the connection ended; `undefined` while it is open. */
  readonly endedWith: string | undefined
  /** Resolves when the connection ends. */
  readonly dropped: Promise<void>
  close(): Promise<void>
}

/** A connection like an application's, to the port of the compute. */
export const clientOf = async (sandbox: Sandbox, computeId: string): Promise<Client> => {
  const compute = (await sandbox.control.computes()).find(({ id }) => id === computeId)
  return clientAt(compute?.uri ?? '')
}

export const clientAt = async (uri: string, extra: pg.ClientConfig = {}): Promise<Client> => {
  const client = new pg.Client({ connectionString: uri, ...extra })
  let endedWith: string | undefined
  const dropped = new Promise<void>((resolve) => {
    client.on('error', (error) => {
      endedWith ??= 'code' in error && typeof error.code === 'string' ? error.code : 'cut'
      resolve()
    })
    client.once('end', resolve)
  })
  await client.connect()
  return {
    query: async (sql) => (await client.query(sql)).rows,
    get endedWith() {
      return endedWith
    },
    dropped,
    close: () => client.end().catch(() => undefined),
  }
}

/** Environment of a process that uses the sandbox. */
export const environmentOf = ({ apiUrl, apiKey }: Sandbox): Readonly<Record<string, string>> => ({
  ESPALIER_BASE_URL: apiUrl,
  ESPALIER_API_KEY: apiKey,
})
