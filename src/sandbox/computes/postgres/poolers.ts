/** Running poolers. The first pooled connection to a compute starts one. */
import type { ComputeSpec } from '../computes.ts'
import type { Home } from './home.ts'
import { type Pooler, startPooler } from './pooler.ts'
import type { PostgresServer } from './server.ts'

export class Poolers {
  readonly #home: Home
  readonly #running = new Map<string, Promise<Pooler>>()

  constructor(home: Home) {
    this.#home = home
  }

  /** Returns the socket of a compute's pooler, and starts it if needed. @param program path of PgBouncer. */
  async reach(
    program: string,
    running: { readonly server: PostgresServer; readonly spec: ComputeSpec },
  ): Promise<string> {
    const { id, catalog } = running.spec
    const pooler =
      this.#running.get(id) ??
      startPooler({
        program,
        runAs: this.#home.runAs,
        watchdog: this.#home.watchdog,
        folder: this.#home.socketFolder(`pooler ${id}`),
        ...running,
        users: catalog.roles,
      })
    this.#running.set(id, pooler)
    return (await pooler).socketPath
  }

  async stop(id: string): Promise<void> {
    const pooler = this.#running.get(id)
    this.#running.delete(id)
    await (await pooler?.catch(() => undefined))?.stop()
  }
}
