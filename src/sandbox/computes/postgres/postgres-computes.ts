/** Real computes: a server process for each running compute, a data folder for each branch, and a proxy for clients. */
import { renameSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { messageOf } from '../../../base/index.ts'
import {
  ADMIN_SHUTDOWN,
  CANNOT_CONNECT_NOW,
  type ComputeAddress,
  type ComputeSpec,
  type Computes,
  ConnectionError,
  defaultVersion,
  type Gate,
  NO_SUCH_COMPUTE,
  POOLER_MISSING,
  SKIPPED,
} from '../computes.ts'
import { ConnectionLog } from '../connection-log.ts'
import { selfSigned } from '../proxy/certificate.ts'
import { type Target, targetOf } from '../proxy/messages.ts'
import { type SharedPort, startProxy } from '../proxy/proxy.ts'
import { readCatalog } from './catalog.ts'
import { DataFolders } from './data.ts'
import { type Home, type HomeOptions, openHome, SUPERVISOR } from './home.ts'
import { findPgBouncer } from './pooler.ts'
import { dropRows, dumpSchema } from './schema.ts'
import type { RunningServer } from './server.ts'
import { openServers, Queues } from './servers.ts'
import { runSql, withSession } from './session.ts'

export interface PostgresOptions extends HomeOptions, SharedPort {
  readonly gate: Gate
  readonly log: (line: string) => void
}

const LOOPBACK = '127.0.0.1'
/** The host names in the proxy's certificate. */
const HOSTS = ['localhost', '*.localhost', '*.aws.neon.tech', '*.sandbox.test']
const INVALID_LOGIN = '28000'
/** How long a request waits for a compute that is stopping or restarting. */
const PATIENCE_MS = 10_000
/** How long to wait before asking a server again that refuses sessions without ending, because it recovers from a crash. */
const RETRY_MS = 100

const ACTIVITY = `
  SELECT count(*) FILTER (WHERE state IN ('active', 'fastpath function call')) > 0 AS busy,
         count(*) FILTER (WHERE state IN ('active', 'fastpath function call') AND wait_event IS NULL) AS load,
         extract(epoch FROM clock_timestamp() - max(state_change)) * 1000 AS quiet_ms
  FROM pg_stat_activity
  WHERE backend_type IN ('client backend', 'parallel worker') AND usename <> '${SUPERVISOR}'`

/** @throws {EspalierError} `E_POSTGRES` if Postgres cannot run here, `E_SANDBOX_STATE` if it cannot read the data, `E_LISTEN` if the port is taken. */
export const postgresComputes = async (options: PostgresOptions): Promise<Computes> => {
  const home = await openHome(options)
  try {
    return await openComputes(home, options)
  } catch (error) {
    await home.close()
    throw error
  }
}

const openComputes = async (home: Home, { gate, log, port, anyPort }: PostgresOptions): Promise<Computes> => {
  const data = new DataFolders(home)
  /** The work that is in progress for each compute. */
  const work = new Queues()
  /** The reads of each branch's roles and databases. One at a time, because few connections are reserved for them. */
  const reads = new Queues()
  const checks = new Queues()
  let isClosing = false

  const logFailure = (id: string, done: Promise<void>): void =>
    void done.catch((error: unknown) => log(`postgres  ${id}  ${messageOf(error)}`))

  const launch = async (spec: ComputeSpec): Promise<void> => {
    // The compute may have been deleted while this work was queued.
    if (!isClosing && gate.isKnown(spec.id)) await servers.launch(spec)
  }

  /** Computes that run only for a check. */
  const checked = new Set<string>()

  const start = (spec: ComputeSpec): Promise<void> => {
    checked.delete(spec.id)
    return work.run(spec.id, async () => {
      if (servers.get(spec.id) === undefined) await launch(spec)
    })
  }

  const check = async (spec: ComputeSpec): Promise<typeof SKIPPED | undefined> => {
    const isIdle = servers.get(spec.id) === undefined
    if (isIdle && spec.type === 'read_only') return SKIPPED
    let isNeeded = false
    try {
      if (isIdle) {
        checked.add(spec.id)
        await launch(spec)
      }
      const { server } = servers.get(spec.id) ?? {}
      if (server !== undefined) await withSession(server, (query) => query('SELECT 1'))
    } finally {
      if (checked.has(spec.id)) await servers.halt(spec.id)
      isNeeded = isIdle && !checked.delete(spec.id)
    }
    return isNeeded ? SKIPPED : undefined
  }

  const stop = (id: string): Promise<void> => work.run(id, () => servers.halt(id))

  const servers = openServers({
    home,
    data,
    log,
    // The service restarts its computes after a crash too.
    onCrash: (spec) => {
      if (isClosing || checked.has(spec.id)) return
      log(`postgres  ${spec.id}  the server crashed and is being restarted`)
      logFailure(spec.id, start(spec))
    },
    onLostTrack: (spec) => {
      if (servers.get(spec.id)?.spec.branchId !== spec.branchId) return
      const copied = work.run(spec.id, async () => {
        await servers.forgetData(spec.id)
        await launch(spec)
      })
      logFailure(spec.id, copied)
    },
    onCatalog: (branchId, catalog) => gate.found(branchId, catalog),
  })

  /** Starts a compute if it is idle, and returns its server once it accepts connections. */
  const wake = async (id: string): Promise<RunningServer> => {
    const spec = await gate.reach(id)
    await work.idle(id)
    // A compute that was active before the sandbox started is launched by its first connection.
    if (servers.get(id) === undefined) await start(spec).catch(asConnectionError)
    const running = servers.get(id)
    if (running === undefined) throw new ConnectionError(CANNOT_CONNECT_NOW, 'the compute is not running: try again')
    return running
  }

  /** Returns the socket of a compute's server or pooler once it accepts connections. */
  const reach = async ({ computeId, pooled }: Target): Promise<string> => {
    const pgBouncer = pooled ? findPgBouncer() : undefined
    if (pooled && pgBouncer === undefined) {
      throw new ConnectionError(NO_SUCH_COMPUTE, `${POOLER_MISSING}: install it, or connect without -pooler`)
    }
    const running = await wake(computeId)
    return pgBouncer === undefined ? running.server.socketPath : servers.poolers.reach(pgBouncer, running)
  }

  const connections = new ConnectionLog()
  /** The connections that the sandbox itself opened. */
  const held = new Map<string, pg.Client>()
  const proxy = await startProxy(
    {
      reach,
      isDiskFull: (pid) => servers.disks.isFull(pid),
      secretOf: ({ computeId }, role) => servers.secretOf(computeId, role),
      certificate: () => selfSigned(HOSTS, Date.now()),
      log: connections,
      reservedRole: SUPERVISOR,
      onBug: (error) => log(`proxy  ${messageOf(error)}`),
    },
    { port, anyPort },
  )
  const { sharedPort } = proxy
  /** Opens the compute's own port. It is the same port as in the last run of the sandbox if that port is free. */
  const address = async (id: string): Promise<ComputeAddress> => {
    const own = await proxy.open(id, home.ports.get(id))
    home.storePort(id, own)
    return { host: LOOPBACK, port: own, sharedPort, hasPooler: findPgBouncer() !== undefined }
  }
  const forget = (id: string): Promise<void> =>
    work.run(id, async () => {
      proxy.shut(id)
      await servers.forgetData(id)
    })
  const versions = [...home.versions.keys()].sort((a, b) => a - b)
  // Create the template in advance. An error can be ignored, because the first branch that needs the template reports
  // it.
  void data.prepare(defaultVersion(versions)).catch(() => undefined)

  return {
    kind: 'postgres',
    description: `Postgres ${Array.from(home.versions.values(), ({ version }) => version).join(', ')}, all on port ${sharedPort}`,
    versions,
    start,
    stop,
    // One at a time, because a jump of the clock makes the checks of all projects due.
    check: (spec) => checks.run('', () => work.run(spec.id, () => check(spec))),
    address,
    portOf: async ({ host, port: requested }) => {
      const name = host.split('.')[0] ?? ''
      if (gate.isKnown(targetOf(name).computeId)) return proxy.open(name)
      return host === LOOPBACK && proxy.isOwn(requested) ? requested : undefined
    },
    connect: async (id, login) => {
      if (login === undefined) throw new ConnectionError(INVALID_LOGIN, 'the branch has no role that can log in')
      const before = new Set(connections.list().map((connection) => connection.id))
      const client = new pg.Client({
        ...(await address(id)),
        ...login,
        application_name: 'espalier sandbox connection',
      })
      client.on('error', () => undefined)
      await client.connect()
      const opened = connections
        .list()
        .find(({ id: own, computeId, closedAt }) => computeId === id && closedAt === undefined && !before.has(own))
      if (opened === undefined) throw new Error('the proxy did not log a connection that was opened')
      held.set(opened.id, client)
      return opened
    },
    disconnect: (connectionId) => {
      void held
        .get(connectionId)
        ?.end()
        .catch(() => undefined)
      held.delete(connectionId)
    },
    connections: () => connections.list(),
    addBranch: (id, source) =>
      servers.branches.run(source?.branchId ?? id, async () => {
        // A source without data has only roles and databases, and they are already in the branch's record.
        if (source === undefined || data.hasBranch(id) || !data.hasBranch(source.branchId)) return
        const folder = data.branch(id)
        const server = servers.primaryOf(source.branchId)
        if (!source.isSchemaOnly) return data.copyBranch(source.branchId, server, folder)
        // The branch must not exist before its rows are removed.
        const copy = `${folder}.copy`
        await data.copyBranch(source.branchId, server, copy)
        await dropRows(id, copy, data.binariesFor(copy, 0), { home, log })
        renameSync(copy, folder)
      }),
    restoreBranch: async (id, restoration) => {
      const { from } = restoration
      await Promise.all(servers.list({ branchId: id }).map(({ spec }) => stop(spec.id)))
      const restore = async (): Promise<void> => {
        // A client may have started the primary again.
        for (const { spec } of servers.list({ branchId: id, type: 'read_write' })) await servers.end(spec.id)
        await data.restoreBranch(id, restoration, servers.primaryOf(from))
      }
      await servers.branches.run(id, () => (from === id ? restore() : servers.branches.run(from, restore)))
      const replicas = data.replicas().filter((replica) => data.isReplicaOf(replica, id))
      await Promise.all(replicas.map((replica) => work.run(replica, () => servers.forgetData(replica))))
    },
    removeBranch: async (id) => {
      // Work in progress, such as the start of a compute of a deleted project, would create the data again.
      await Promise.all([work.allIdle(), servers.branches.allIdle()])
      await servers.branches.run(id, async () => data.remove(data.branch(id)))
    },
    restart: (spec) =>
      work.run(spec.id, async () => {
        await servers.halt(spec.id)
        await launch(spec)
      }),
    configure: (spec) =>
      work.run(spec.id, async () => {
        const running = servers.get(spec.id)
        if (running !== undefined) await servers.configure(spec, running)
        // A compute that was already active when the sandbox started is launched by its first connection. Changes to
        // roles and databases cannot wait for this connection.
        else if (spec.changes.length > 0) await launch(spec)
      }),
    resize: ({ id, cu }) =>
      work.run(id, async () => {
        const running = servers.get(id)
        if (running !== undefined) await servers.configure({ ...running.spec, cu, changes: [] }, running)
      }),
    forget,
    prune: () => {
      for (const id of data.replicas()) if (!gate.isKnown(id)) logFailure(id, forget(id))
    },
    activity: async (id) => {
      const running = servers.get(id)
      if (running === undefined) return { busy: false, load: 0, lastUse: Number.NEGATIVE_INFINITY }
      return withSession(running.server, async (query) => {
        // Take the time before the query, because a time that is too early does less harm than one that is too late.
        const startedAt = performance.now()
        const [row] = await query(ACTIVITY)
        const lastUse = row?.quiet_ms === null ? Number.NEGATIVE_INFINITY : startedAt - Number(row?.quiet_ms)
        return { busy: row?.busy === true, load: Number(row?.load), lastUse }
      })
    },
    readCatalog: (branchId) => {
      const until = performance.now() + PATIENCE_MS
      return reads.run(branchId, async () => {
        for (;;) {
          const [primary] = servers.list({ branchId, type: 'read_write' })
          if (primary === undefined) return undefined
          try {
            return await orTimeout(readCatalog(primary.server), until - performance.now())
          } catch (error) {
            if (!(error instanceof ConnectionError) || performance.now() > until) throw error
          }
          await Promise.race([primary.server.ended, pause(RETRY_MS)])
          const left = Math.max(0, until - performance.now())
          await Promise.race([work.idle(primary.spec.id), pause(left, undefined, { ref: false })])
        }
      })
    },
    dumpSchema: async (id, login) => {
      const { port: own } = await address(id)
      const { server } = await wake(id)
      try {
        return await dumpSchema(home.versions, server.major, { port: own, ...login })
      } catch (error) {
        if (servers.get(id)?.server === server) throw error
        throw new ConnectionError(ADMIN_SHUTDOWN, 'the read_write endpoint was stopped')
      }
    },
    runSql: (at, statements, begin) => runSql({ ...at, host: LOOPBACK }, statements, begin),
    close: async () => {
      isClosing = true
      for (const client of held.values()) void client.end().catch(() => undefined)
      await work.allIdle()
      // Stop the replicas first, because a primary that shuts down waits until its replicas have received all of its
      // WAL.
      for (const type of ['read_only', 'read_write'] as const) {
        await Promise.all(servers.list({ type }).map(({ spec }) => stop(spec.id)))
      }
      await servers.branches.allIdle()
      await proxy.close()
      await home.close()
    },
  }
}

/** A server that is stopped or out of memory may accept a session and never respond. @throws {ConnectionError} after `ms`. */
const orTimeout = <T>(work: Promise<T>, ms: number): Promise<T> => {
  const late = pause(Math.max(0, ms), undefined, { ref: false }).then((): never => {
    throw new ConnectionError(CANNOT_CONNECT_NOW, 'the compute does not respond')
  })
  return Promise.race([work, late])
}

/** Sends the client the reason why the compute could not be started. */
const asConnectionError = (error: unknown): never => {
  throw new ConnectionError(CANNOT_CONNECT_NOW, messageOf(error))
}
