/** The folders that hold data: one a branch, one a replica, each first copied from a template or from another one. */
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EspalierError, withoutSecrets } from '../../../model/index.ts'
import type { Binaries } from './binaries.ts'
import type { RunAs } from './run-as.ts'
import type { PostgresServer } from './server.ts'
import { SUPERVISOR, withSession } from './session.ts'

export const DATABASE = 'sandbox'
export const ROLE = 'sandbox'

/** What belongs to a running server and not to its data. */
const OF_THE_PROCESS = new Set(['pg_wal', 'postmaster.pid', 'postmaster.opts', 'pg_stat_tmp', 'backup_label'])

const run = promisify(execFile)

export class DataFolders {
  readonly #root: string
  readonly #binaries: Binaries
  readonly #runAs: RunAs
  readonly #password: string
  #template: Promise<string> | undefined

  constructor(root: string, binaries: Binaries, as: RunAs, password: string) {
    this.#root = root
    this.#binaries = binaries
    this.#runAs = as
    this.#password = password
    for (const name of ['branches', 'replicas']) {
      mkdirSync(join(root, name), { recursive: true, mode: 0o755 })
      as.own(join(root, name))
    }
  }

  branch(id: string): string {
    return join(this.#root, 'branches', id)
  }

  replica(id: string): string {
    return join(this.#root, 'replicas', id)
  }

  hasBranch(id: string): boolean {
    return existsSync(this.branch(id))
  }

  /** A branch without data of its own yet starts from the template. */
  async ensureBranch(id: string): Promise<string> {
    const folder = this.branch(id)
    if (!existsSync(folder)) await this.#copyAtRest(await this.template(), folder)
    return folder
  }

  /** A copy of a branch as it is now; of a running one by an online backup. */
  async copyBranch(from: string, server: PostgresServer | undefined, to: string): Promise<void> {
    if (server === undefined) await this.#copyAtRest(await this.ensureBranch(from), to)
    else await this.#backUp(this.branch(from), server, to)
  }

  /**
   * A branch gets a copy of another one; what it had becomes the branch `preserveAs`, where that is named. May be done
   * again after it was cut off at any point.
   */
  async restoreBranch(
    id: string,
    { from, server, preserveAs }: { from: string; server: PostgresServer | undefined; preserveAs: string | undefined },
  ): Promise<void> {
    const folder = await this.ensureBranch(id)
    const fresh = `${folder}.restored`
    await this.copyBranch(from, server, fresh)
    if (preserveAs === undefined || this.hasBranch(preserveAs)) this.remove(folder)
    else renameSync(folder, this.branch(preserveAs))
    renameSync(fresh, folder)
  }

  replicasOf(branchId: string): readonly string[] {
    return readdirSync(join(this.#root, 'replicas')).filter((id) => this.isReplicaOf(id, branchId))
  }

  /** Whether a replica's folder is a copy of this branch. */
  isReplicaOf(id: string, branchId: string): boolean {
    try {
      return readFileSync(join(this.replica(id), 'espalier-branch'), 'utf8') === branchId
    } catch {
      return false
    }
  }

  markReplica(id: string, branchId: string): void {
    writeFileSync(join(this.replica(id), 'standby.signal'), '')
    writeFileSync(join(this.replica(id), 'espalier-branch'), branchId)
  }

  remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true })
  }

  /**
   * Data as `initdb` makes it, with a role and a database for clients. Made once.
   *
   * @throws {EspalierError} `E_POSTGRES` where it fails.
   */
  template(): Promise<string> {
    this.#template ??= this.#makeTemplate()
    return this.#template
  }

  async #makeTemplate(): Promise<string> {
    const folder = join(this.#root, 'template')
    if (existsSync(folder)) return folder
    const making = `${folder}.new`
    const secret = join(this.#root, 'supervisor')
    this.remove(making)
    writeFileSync(secret, this.#password, { mode: 0o600 })
    this.#runAs.own(secret)
    mkdirSync(making, { mode: 0o700 })
    this.#runAs.own(making)
    try {
      await this.#run(this.#binaries.initdb, [
        ...['-D', making, '-U', SUPERVISOR, '-A', 'scram-sha-256', `--pwfile=${secret}`],
        ...['--no-sync', '--wal-segsize=1', '--encoding=UTF8', '--locale=C', '--no-instructions'],
      ])
      const quoted = `'${this.#password}'`
      await this.#run(
        this.#binaries.postgres,
        ['--single', '-D', making, '-c', 'fsync=off', '-c', 'exit_on_error=on', 'postgres'],
        [
          `CREATE ROLE ${ROLE} LOGIN CREATEDB CREATEROLE PASSWORD ${quoted}`,
          `GRANT pg_monitor, pg_signal_backend TO ${ROLE}`,
          `CREATE DATABASE ${DATABASE} OWNER ${ROLE}`,
          '',
        ].join('\n'),
      )
    } catch (cause) {
      throw new EspalierError('E_POSTGRES', 'Postgres cannot make a database.', {
        hint: cause instanceof Error ? cause.message.trim() : String(cause),
        cause,
      })
    } finally {
      rmSync(secret, { force: true })
    }
    renameSync(making, folder)
    return folder
  }

  async #run(program: string, args: readonly string[], input = ''): Promise<void> {
    const [command, all] = this.#runAs.command(program, args)
    const child = spawn(command, all, {
      ...this.#runAs.ids,
      cwd: '/',
      env: { PATH: process.env.PATH, ...this.#binaries.env },
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
    if (code !== 0) throw new Error(said)
  }

  async #copyAtRest(from: string, to: string): Promise<void> {
    const making = `${to}.new`
    this.remove(making)
    await run('cp', ['-a', from, making], { env: withoutSecrets(process.env) })
    for (const name of ['standby.signal', 'espalier-branch']) rmSync(join(making, name), { force: true })
    this.remove(to)
    renameSync(making, to)
  }

  /** An online backup: the log comes last, since it must hold the backup's end (PostgreSQL documentation, 25.3.4). */
  async #backUp(from: string, server: PostgresServer, to: string): Promise<void> {
    const making = `${to}.new`
    this.remove(making)
    mkdirSync(making, { mode: 0o700 })
    this.#runAs.own(making)
    await withSession(server, this.#password, async (query) => {
      await query(`SELECT pg_backup_start('espalier', true)`)
      const parts = readdirSync(from).filter((name) => !OF_THE_PROCESS.has(name))
      await copyLive(
        parts.map((name) => join(from, name)),
        making,
      )
      const [end] = await query('SELECT labelfile FROM pg_backup_stop(false)')
      await copyLive([join(from, 'pg_wal')], making)
      writeFileSync(join(making, 'backup_label'), String(end?.labelfile))
      this.#runAs.own(join(making, 'backup_label'))
    })
    mkdirSync(join(making, 'pg_stat_tmp'), { mode: 0o700 })
    this.#runAs.own(join(making, 'pg_stat_tmp'))
    this.remove(to)
    renameSync(making, to)
  }
}

/** A file may go while its folder is being copied; the log makes up for it. */
const copyLive = async (paths: readonly string[], to: string): Promise<void> => {
  try {
    await run('cp', ['-a', ...paths, `${to}/`], { env: withoutSecrets(process.env) })
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    const other = said.split('\n').filter((line) => line !== '' && !line.includes('No such file or directory'))
    if (said === '' || other.length > 0) throw error
  }
}
