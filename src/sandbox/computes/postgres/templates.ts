/**
 * Templates for the data of new branches: for each version, an empty cluster and a cluster with roles and databases.
 */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, withoutSecrets } from '../../../base/index.ts'
import { EspalierError } from '../../../model/index.ts'
import type { ComputeSpec } from '../computes.ts'
import type { Binaries } from './binaries.ts'
import { provisioning, safeguards } from './catalog.ts'
import { type Home, SUPERVISOR } from './home.ts'

const run = promisify(execFile)

interface Provisioned {
  /** A digest of the roles, passwords and databases in the folder. */
  readonly key: string
  readonly folder: Promise<string>
}

export class Templates {
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
export const draftOf = (folder: string): string => `${folder}.${process.pid}.new`

const DRAFT = /\.(\d+)\.new$/

/** Removes the incomplete folders of sandboxes that were killed. */
export const removeUnfinished = (parent: string): void => {
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
export const copyAtRest = async (from: string, to: string): Promise<void> => {
  rmSync(to, { recursive: true, force: true })
  await run('cp', ['-a', from, to], { env: withoutSecrets(process.env) })
  for (const name of ['standby.signal', 'espalier-branch']) rmSync(join(to, name), { force: true })
}
