/**
 * Manages the data folders. Each branch and each replica has one, which is a copy of a template or of another folder.
 */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EspalierError, messageOf, readIfPresent, withoutSecrets } from '../../../base/index.ts'
import type { ComputeSpec, RestoreWork } from '../computes.ts'
import type { Binaries } from './binaries.ts'
import { provisioning, safeguards } from './catalog.ts'
import { type Home, SUPERVISOR, versionIn } from './home.ts'
import type { PostgresServer } from './server.ts'
import { withSession } from './session.ts'

/** The part of a spec that determines a new branch's data. */
type BranchSpec = Pick<ComputeSpec, 'branchId' | 'pgVersion' | 'catalog' | 'isLogical'>

/** Files in a data folder that are part of the running server rather than of the data. */
const PROCESS_FILES = new Set(['pg_wal', 'postmaster.pid', 'postmaster.opts', 'pg_stat_tmp', 'backup_label'])

/** A file that contains the id of the last restore. */
const RESTORED = 'espalier-restored'

/** The backup functions, which were renamed in version 15 (release notes). */
const backupCalls = (major: number): { readonly begin: string; readonly end: string } =>
  major < 15
    ? {
        begin: `SELECT pg_start_backup('espalier', true, false)`,
        end: 'SELECT labelfile FROM pg_stop_backup(false, false)',
      }
    : { begin: `SELECT pg_backup_start('espalier', true)`, end: 'SELECT labelfile FROM pg_backup_stop(false)' }

const run = promisify(execFile)

export class DataFolders {
  readonly #home: Home
  readonly #templates: Templates

  constructor(home: Home) {
    this.#home = home
    this.#templates = new Templates(home)
    removeUnfinished(home.root)
    for (const folder of [this.branch(''), this.replica('')]) {
      home.makeFolder(folder, 0o755)
      removeUnfinished(folder)
    }
  }

  branch(id: string): string {
    return join(this.#home.root, 'branches', id)
  }

  replica(id: string): string {
    return join(this.#home.root, 'replicas', id)
  }

  hasBranch(id: string): boolean {
    return existsSync(this.branch(id))
  }

  /** The programs of the version that a branch's data needs. @throws {Error} if this version is not installed. */
  binariesOf({ branchId, pgVersion }: BranchSpec): Binaries {
    return this.binariesFor(this.branch(branchId), pgVersion)
  }

  /**
   * Like {@link binariesOf}, but for any data folder. @param usual the version to use if the folder has no data yet.
   */
  binariesFor(folder: string, usual: number): Binaries {
    const major = versionIn(folder) ?? usual
    const binaries = this.#home.versions.get(major)
    if (binaries !== undefined) return binaries
    throw new Error(`Postgres ${major} is not installed, but the data in ${folder} needs it`)
  }

  /** Creates the template of a version in advance. */
  async prepare(major: number): Promise<void> {
    const binaries = this.#home.versions.get(major)
    if (binaries !== undefined) await this.#templates.empty(binaries)
  }

  /** If a branch has no data yet, creates it from the template, with the branch's roles and databases. */
  async ensureBranch(spec: BranchSpec): Promise<string> {
    const folder = this.branch(spec.branchId)
    if (existsSync(folder)) return folder
    const draft = draftOf(folder)
    await this.#templates.provision(this.binariesOf(spec), spec, draft)
    renameSync(draft, folder)
    return folder
  }

  /** Copies the current data of a branch. If a server is using the data, the copy is an online backup. */
  async copyBranch(from: string, server: PostgresServer | undefined, to: string): Promise<void> {
    const [data, draft] = [this.branch(from), draftOf(to)]
    await (server === undefined ? copyAtRest(data, draft) : this.#backUp(data, server, draft))
    this.remove(to)
    renameSync(draft, to)
  }

  /**
   * Replaces the data of a branch with a copy of another branch's data, or removes it if the other branch has none. If
   * `preserveAs` is given, the branch with this id receives the old data. A restore can be repeated after it was
   * interrupted at any point.
   */
  async restoreBranch(
    branchId: string,
    { id, from, preserveAs }: RestoreWork,
    server: PostgresServer | undefined,
  ): Promise<void> {
    const folder = this.branch(branchId)
    if (readIfPresent(join(folder, RESTORED)) === id) return
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

  /** The ids of the replicas that have data. */
  replicas(): readonly string[] {
    return readdirSync(this.replica(''))
  }

  isReplicaOf(id: string, branchId: string): boolean {
    return readIfPresent(join(this.replica(id), 'espalier-branch')) === branchId
  }

  markReplica(id: string, branchId: string): void {
    writeFileSync(join(this.replica(id), 'standby.signal'), '')
    writeFileSync(join(this.replica(id), 'espalier-branch'), branchId)
  }

  remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true })
  }

  /**
   * Makes an online backup. The WAL is copied last, because it must include the end of the backup (PostgreSQL
   * documentation, 25.3.4).
   */
  async #backUp(from: string, server: PostgresServer, to: string): Promise<void> {
    this.remove(to)
    this.#home.makeFolder(to)
    await withSession(server, async (query) => {
      const { begin, end } = backupCalls(server.major)
      await query(begin)
      const parts = readdirSync(from).filter((name) => !PROCESS_FILES.has(name))
      await copyLive(
        parts.map((name) => join(from, name)),
        to,
      )
      const [stopped] = await query(end)
      await copyLive([join(from, 'pg_wal')], to)
      this.#home.write(join(to, 'backup_label'), String(stopped?.labelfile))
    })
    this.#home.makeFolder(join(to, 'pg_stat_tmp'))
  }
}

/** Ignores files that disappear during the copy, because the WAL contains their changes. */
const copyLive = async (paths: readonly string[], to: string): Promise<void> => {
  try {
    await run('cp', ['-a', ...paths, `${to}/`], { env: withoutSecrets(process.env) })
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    const other = said.split('\n').filter((line) => line !== '' && !line.includes('No such file or directory'))
    if (said === '' || other.length > 0) throw error
  }
}

// Templates for the data of new branches: for each version, an empty cluster and a cluster with roles and databases.

interface Provisioned {
  /** A digest of the roles, passwords and databases in the folder. */
  readonly key: string
  readonly folder: Promise<string>
}

class Templates {
  readonly #home: Home
  readonly #empty = new Map<number, Promise<string>>()
  /** For each version, the first set of roles and databases that was requested. */
  readonly #provisioned = new Map<number, Provisioned>()

  constructor(home: Home) {
    this.#home = home
  }

  /**
   * An empty cluster that `initdb` created and that was made safe for clients. Each major version has one.
   *
   * @throws {EspalierError} `E_POSTGRES` if `initdb` fails.
   */
  empty(binaries: Binaries): Promise<string> {
    const known = this.#empty.get(binaries.major) ?? this.#makeEmpty(binaries)
    this.#empty.set(binaries.major, known)
    return known
  }

  /**
   * Creates a data folder with these roles and databases. All branches of a seed have the same roles and databases, so
   * these are created only once, and the folder is then copied.
   */
  async provision(
    binaries: Binaries,
    { catalog, isLogical }: Pick<ComputeSpec, 'catalog' | 'isLogical'>,
    to: string,
  ): Promise<void> {
    const statements = provisioning(catalog, isLogical)
    const key = createHash('sha256').update(statements.join('\n')).digest('hex').slice(0, 16)
    const first = this.#provisioned.get(binaries.major) ?? this.#first(binaries, statements, key)
    if (first.key === key) await copyAtRest(await first.folder, to)
    else await this.#make(binaries, statements, to)
  }

  #first(binaries: Binaries, statements: readonly string[], key: string): Provisioned {
    const stem = `provisioned-${binaries.major}-`
    const folder = join(this.#home.root, `${stem}${key}`)
    const make = async (): Promise<string> => {
      if (existsSync(folder)) return folder
      for (const name of readdirSync(this.#home.root)) {
        if (name.startsWith(stem)) rmSync(join(this.#home.root, name), { recursive: true, force: true })
      }
      await this.#make(binaries, statements, draftOf(folder))
      renameSync(draftOf(folder), folder)
      return folder
    }
    const first = { key, folder: make() }
    this.#provisioned.set(binaries.major, first)
    // Let the next caller try again.
    void first.folder.catch(() => this.#provisioned.delete(binaries.major))
    return first
  }

  async #make(binaries: Binaries, statements: readonly string[], to: string): Promise<void> {
    await copyAtRest(await this.empty(binaries), to)
    await this.#runAlone(binaries, to, statements)
  }

  async #makeEmpty(binaries: Binaries): Promise<string> {
    const folder = join(this.#home.root, `template-${binaries.major}`)
    if (existsSync(folder)) return folder
    const draft = draftOf(folder)
    const secret = this.#home.write(`supervisor-${binaries.major}`, this.#home.password)
    rmSync(draft, { recursive: true, force: true })
    this.#home.makeFolder(draft)
    try {
      await this.#run(binaries, binaries.initdb, [
        ...['-D', draft, '-U', SUPERVISOR, '-A', 'scram-sha-256', `--pwfile=${secret}`],
        ...['--no-sync', '--wal-segsize=1', '--encoding=UTF8', '--locale=C', '--no-instructions'],
      ])
      await this.#runAlone(binaries, draft, safeguards(binaries.major))
    } catch (cause) {
      throw new EspalierError('E_POSTGRES', 'Postgres cannot create a database.', {
        hint: messageOf(cause).trim(),
        cause,
      })
    } finally {
      rmSync(secret, { force: true })
    }
    renameSync(draft, folder)
    return folder
  }

  /** Runs statements in single-user mode, in which no client can connect. */
  #runAlone(binaries: Binaries, folder: string, statements: readonly string[]): Promise<void> {
    const args = ['--single', '-D', folder, '-c', 'fsync=off', '-c', 'exit_on_error=on', 'postgres']
    return this.#run(binaries, binaries.postgres, args, [...statements, ''].join('\n'))
  }

  async #run(binaries: Binaries, program: string, args: readonly string[], input = ''): Promise<void> {
    const [command, all] = this.#home.runAs.command(program, args)
    const child = spawn(command, all, {
      ...this.#home.runAs.ids,
      cwd: '/',
      env: { PATH: process.env.PATH, ...binaries.env },
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
}

/**
 * The name that a folder has until it is complete. It contains the process id of the sandbox, because programs that
 * were started by a sandbox that has been killed may still be writing to its folders.
 */
const draftOf = (folder: string): string => `${folder}.${process.pid}.new`

const DRAFT = /\.(\d+)\.new$/

/** Removes the incomplete folders of sandboxes that were killed. */
const removeUnfinished = (parent: string): void => {
  for (const name of readdirSync(parent)) {
    const pid = DRAFT.exec(name)?.[1]
    if (pid === undefined || pid === String(process.pid)) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // A program is still writing there; the next start removes the folder.
    }
  }
}

/** Copies a data folder. No server may be using it. */
const copyAtRest = async (from: string, to: string): Promise<void> => {
  rmSync(to, { recursive: true, force: true })
  await run('cp', ['-a', from, to], { env: withoutSecrets(process.env) })
  for (const name of ['standby.signal', 'espalier-branch']) rmSync(join(to, name), { force: true })
}
