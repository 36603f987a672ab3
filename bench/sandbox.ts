/** `npm run bench:sandbox` prints the throughput of the sandbox and the start-up times of its real computes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { Pool } from 'undici'
import { packageFolder } from '../src/sandbox/computes/postgres/binaries.ts'
import { startSandbox } from '../src/sandbox/index.ts'

const PROJECTS = 16
const SECONDS = 5
const KILL_ROUNDS = 20
const OPERATIONS = 100_000

const startServer = async (directory: string) => {
  const args = ['--import', 'tsx', '--expose-gc', 'bench/sandbox-server.ts', directory, `${PROJECTS}`]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value ?? '{}') as Record<string, unknown>
  const { url, key } = await next()
  const { origin, pathname } = new URL(String(url))
  const pool = new Pool(origin, { connections: PROJECTS })
  const call = async (method: 'GET' | 'PATCH', path: string, body?: object) => {
    const response = await pool.request({
      method,
      path: `${pathname}${path}`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const value = (await response.body.json()) as Record<string, unknown>
    return { status: response.statusCode, value }
  }
  return {
    child,
    call,
    heapMiB: async (): Promise<number> => {
      child.stdin.write('\n')
      return Number((await next()).heapMiB)
    },
    end: async (): Promise<void> => {
      await pool.destroy()
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

type Server = Awaited<ReturnType<typeof startServer>>

/**
 * Measures throughput. Each project has one client, which sends its requests sequentially.
 *
 * @returns the number of successful requests per second.
 */
const rate = async (send: (project: number) => Promise<boolean>): Promise<number> => {
  let done = 0
  const until = performance.now() + SECONDS * 1_000
  await Promise.all(
    Array.from({ length: PROJECTS }, async (_, project) => {
      while (performance.now() < until) if (await send(project)) done += 1
    }),
  )
  return done / SECONDS
}

const endpoint = (project: number): string => `/projects/project-${project}/endpoints/ep-main-${project}`

const rename = async ({ call }: Server, project: number, name: string): Promise<boolean> =>
  (await call('PATCH', endpoint(project), { endpoint: { name } })).status === 200

const report = (what: string, figure: string): void => console.log(`${what.padEnd(64)}${figure}`)
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const http = async (): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'espalier-bench-'))
  const server = await startServer(directory)
  const reads = await rate(
    async (project) => (await server.call('GET', `/projects/project-${project}/endpoints`)).status === 200,
  )
  let turn = 0
  const writes = await rate((project) => {
    turn += 1
    return rename(server, project, `name-${turn}`)
  })
  report('GET requests per second, state on disk', reads.toFixed(0))
  report('writes per second, state on disk', writes.toFixed(0))

  // Use only a few projects, so that each gets more operations than the sandbox keeps.
  const few = 4
  const change = async (project: number, round: number): Promise<number> => {
    const body = { endpoint: { suspend_timeout_seconds: 60 + (round % 1_000) } }
    const { status, value } = await server.call('PATCH', endpoint(project), body)
    return status === 200 ? (value.operations as readonly unknown[]).length : 0
  }
  const heaps: number[] = []
  let operations = 0
  for (let part = 1; part <= 5; part += 1) {
    await Promise.all(
      Array.from({ length: few }, async (_, project) => {
        for (let round = part; operations < (OPERATIONS / 5) * part; round += 1) {
          const made = await change(project, round)
          operations += made
        }
      }),
    )
    heaps.push(await server.heapMiB())
  }
  report(`heap after each fifth of ${OPERATIONS} operations`, `${heaps.map((heap) => heap.toFixed(0)).join(' / ')} MiB`)
  await server.end()
  await rm(directory, { recursive: true })
}

/** Kills the server during 1,000 writes. No write that was acknowledged may be lost. */
const kills = async (): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'espalier-bench-'))
  const last = new Map<number, string>()
  let [answered, lost] = [0, 0]
  for (let round = 0; round <= KILL_ROUNDS; round += 1) {
    const server = await startServer(directory)
    for (const [project, name] of last) {
      const { value } = await server.call('GET', endpoint(project))
      const shown = (value.endpoint as { readonly name?: string }).name ?? ''
      // A write that the kill interrupted may have taken effect without being acknowledged.
      const [, turn = '0'] = name.split('/')
      const [, shownTurn = '0'] = shown.split('/')
      if (!shown.startsWith(`${round - 1}/`) || Number(shownTurn) < Number(turn)) lost += 1
    }
    last.clear()
    if (round === KILL_ROUNDS) {
      await server.end()
      break
    }
    let writes = 0
    const exited = once(server.child, 'exit')
    await Promise.allSettled(
      Array.from({ length: PROJECTS }, async (_, project) => {
        for (let turn = 1; writes < 1_000; turn += 1) {
          const name = `${round}/${turn}`
          if (!(await rename(server, project, name))) continue
          last.set(project, name)
          answered += 1
          writes += 1
          if (writes === 500) server.child.kill('SIGKILL')
        }
      }),
    )
    await exited
  }
  report(`kill -9 during 1,000 writes, ${KILL_ROUNDS} rounds`, `${answered} answered, ${lost} lost`)
  await rm(directory, { recursive: true })
}

const computes = async (): Promise<void> => {
  const branch = (index: number) => ({
    name: `b${index}`,
    computes: [{ id: `ep-b${index}`, size: 1, scaleToZero: 'never', state: 'idle' as const }],
  })
  const sandbox = await startSandbox({
    background: false,
    computes: { kind: 'postgres', bin: packageFolder() },
    seed: { projects: Array.from({ length: 21 }, (_, index) => ({ id: `p${index}`, branches: [branch(index)] })) },
  })
  const all = await sandbox.control.computes()
  const uri = (index: number): string => all[index]?.uri ?? ''
  const firstRow = async (index: number): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: uri(index) })
    client.on('error', () => undefined)
    await client.connect()
    await client.query('SELECT 1')
    return client
  }
  const authorization = { authorization: `Bearer ${sandbox.apiKey}` }
  const suspend = async (index: number): Promise<void> => {
    const path = `/projects/p${index}/endpoints/ep-b${index}/suspend`
    await fetch(`${sandbox.apiUrl}${path}`, { method: 'POST', headers: authorization })
    while ((await sandbox.control.computes())[index]?.state !== 'idle') {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  // The first start creates the data folder. Later starts use it.
  await (await firstRow(0)).end()
  const wakes: number[] = []
  for (let round = 0; round < 20; round += 1) {
    await suspend(0)
    const began = performance.now()
    const client = await firstRow(0)
    wakes.push(performance.now() - began)
    await client.end()
  }
  report(
    'first row from an idle compute, median and maximum of 20',
    `${median(wakes).toFixed(0)} / ${Math.max(...wakes).toFixed(0)} ms`,
  )

  let began = performance.now()
  const twenty = Array.from({ length: 20 }, (_, index) => index + 1)
  const startAll = async (what: string): Promise<void> => {
    began = performance.now()
    const clients = await Promise.all(twenty.map(firstRow))
    report(what, `${(performance.now() - began).toFixed(0)} ms`)
    await Promise.all(clients.map((client) => client.end()))
  }
  await startAll('first rows from 20 computes started concurrently, on new branches')
  await Promise.all(twenty.map(suspend))
  await startAll('first rows from 20 computes started concurrently, with data')

  await suspend(0)
  began = performance.now()
  const startsBefore = await starts(sandbox.apiUrl, authorization)
  const first = await Promise.all(Array.from({ length: 50 }, () => firstRow(0)))
  const took = performance.now() - began
  const started = (await starts(sandbox.apiUrl, authorization)) - startsBefore
  report('50 concurrent first connections to one compute', `${started} start, ${took.toFixed(0)} ms`)
  await Promise.all(first.map((client) => client.end()))
  await sandbox.close()
}

const starts = async (apiUrl: string, headers: Record<string, string>): Promise<number> => {
  const response = await fetch(`${apiUrl}/projects/p0/operations?limit=1000`, { headers })
  const { operations } = (await response.json()) as { operations: readonly { action: string }[] }
  return operations.filter(({ action }) => action === 'start_compute').length
}

console.log(`Node ${process.version}\n`)
await http()
await kills()
await computes()
