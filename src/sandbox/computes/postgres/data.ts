/** The folders that hold data: one a branch, one a replica, each first copied from a template or from another one. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withoutSecrets } from '../../../model/index.ts'
import type { ComputeSpec, RestoreWork } from '../computes.ts'
import type { Binaries } from './binaries.ts'
import type { RunAs } from './run-as.ts'
import type { PostgresServer } from './server.ts'
import { withSession } from './session.ts'
import { copyAtRest, makingOf, removeUnfinished, Templates } from './templates.ts'

/** What a branch's data needs to be made. */
export type BranchSpec = Pick<ComputeSpec, 'branchId' | 'pgVersion' | 'catalog' | 'isLogical'>

/** What belongs to a running server and not to its data. */
const OF_THE_PROCESS = new Set(['pg_wal', 'postmaster.pid', 'postmaster.opts', 'pg_stat_tmp', 'backup_label'])

/** Names the restore that data is the result of. */
const RESTORED = 'espalier-restored'

/** Renamed in version 15 (its release notes). */
const backupCalls = (major: number): { readonly begin: string; readonly end: string } =>
  major < 15
    ? {
        begin: `SELECT pg_start_backup('espalier', true, false)`,
        end: 'SELECT labelfile FROM pg_stop_backup(false, false)',
      }
    : { begin: `SELECT pg_backup_start('espalier', true)`, end: 'SELECT labelfile FROM pg_backup_stop(false)' }

const run = promisify(execFile)

export class DataFolders {
  readonly #root: string
  readonly #versions: ReadonlyMap<number, Binaries>
  readonly #runAs: RunAs
  readonly #password: string
  readonly #templates: Templates

  constructor(root: string, versions: ReadonlyMap<number, Binaries>, as: RunAs, password: string) {
    this.#root = root
    this.#versions = versions
    this.#runAs = as
    this.#password = password
    this.#templates = new Templates(root, as, password)
    for (const name of ['branches', 'replicas']) {
      mkdirSync(join(root, name), { recursive: true, mode: 0o755 })
      as.own(join(root, name))
    }
    for (const folder of [root, join(root, 'branches'), join(root, 'replicas')]) removeUnfinished(folder)
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

  /** The programs that can open a branch's data. @throws {Error} if this machine has none of that version. */
  binariesOf({ branchId, pgVersion }: BranchSpec): Binaries {
    return this.binariesFor(this.branch(branchId), pgVersion)
  }

  /** The same for any folder of data; `usual` if it holds none yet. */
  binariesFor(folder: string, usual: number): Binaries {
    const major = versionIn(folder) ?? usual
    const binaries = this.#versions.get(major)
    if (binaries !== undefined) return binaries
    throw new Error(`Postgres ${major} is not installed here, and the data in ${folder} needs it`)
  }

  /** Makes what the first branch of a version needs, while nobody waits for it. */
  async prepare(major: number): Promise<void> {
    const binaries = this.#versions.get(major)
    if (binaries !== undefined) await this.#templates.empty(binaries)
  }

  /** A branch without data yet starts from the template, with its roles and databases. */
  async ensureBranch(spec: BranchSpec): Promise<string> {
    const folder = this.branch(spec.branchId)
    if (existsSync(folder)) return folder
    const making = makingOf(folder)
    await this.#templates.provision(this.binariesOf(spec), spec, making)
    renameSync(making, folder)
    return folder
  }

  /** A copy of a branch as it is now; of a running one by an online backup. */
  async copyBranch(from: string, server: PostgresServer | undefined, to: string): Promise<void> {
    if (server !== undefined) return this.#backUp(this.branch(from), server, to)
    const making = makingOf(to)
    await copyAtRest(this.branch(from), making)
    this.remove(to)
    renameSync(making, to)
  }

  /**
   * A branch gets a copy of another one's data, or none if that has none; what it had becomes the branch
   * `preserveAs`, where that is named. Can be repeated if it was interrupted at any point.
   */
  async restoreBranch(
    branchId: string,
    { id, from, preserveAs }: RestoreWork,
    server: PostgresServer | undefined,
  ): Promise<void> {
    const folder = this.branch(branchId)
    if (restoreOf(folder) === id) return
    const fresh = `${folder}.restored`
    this.remove(fresh)
    if (this.hasBranch(from)) {
      await this.copyBranch(from, server, fresh)
      writeFileSync(join(fresh, RESTORED), id)
    }
    if (preserveAs === undefined || this.hasBranch(preserveAs)) this.remove(folder)
    else if (existsSync(folder)) renameSync(folder, this.branch(preserveAs))
    if (existsSync(fresh)) renameSync(fresh, folder)
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

  /** An online backup: the log comes last, since it must hold the backup's end (PostgreSQL documentation, 25.3.4). */
  async #backUp(from: string, server: PostgresServer, to: string): Promise<void> {
    const making = makingOf(to)
    this.remove(making)
    mkdirSync(making, { mode: 0o700 })
    this.#runAs.own(making)
    await withSession(server, this.#password, async (query) => {
      const { begin, end } = backupCalls(versionIn(from) ?? 0)
      await query(begin)
      const parts = readdirSync(from).filter((name) => !OF_THE_PROCESS.has(name))
      await copyLive(
        parts.map((name) => join(from, name)),
        making,
      )
      const [stopped] = await query(end)
      await copyLive([join(from, 'pg_wal')], making)
      writeFileSync(join(making, 'backup_label'), String(stopped?.labelfile))
      this.#runAs.own(join(making, 'backup_label'))
    })
    mkdirSync(join(making, 'pg_stat_tmp'), { mode: 0o700 })
    this.#runAs.own(join(making, 'pg_stat_tmp'))
    this.remove(to)
    renameSync(making, to)
  }
}

/** Of which restore a folder's data is the result. */
const restoreOf = (folder: string): string | undefined => {
  try {
    return readFileSync(join(folder, RESTORED), 'utf8')
  } catch {
    return undefined
  }
}

/** Of a folder's data; `undefined` if there is none. */
export const versionIn = (folder: string): number | undefined => {
  try {
    return Number(readFileSync(join(folder, 'PG_VERSION'), 'utf8'))
  } catch {
    return undefined
  }
}

/** A file may disappear while its folder is being copied; the log makes up for it. */
const copyLive = async (paths: readonly string[], to: string): Promise<void> => {
  try {
    await run('cp', ['-a', ...paths, `${to}/`], { env: withoutSecrets(process.env) })
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    const other = said.split('\n').filter((line) => line !== '' && !line.includes('No such file or directory'))
    if (said === '' || other.length > 0) throw error
  }
}
