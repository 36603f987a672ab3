/** Runs the Action as the runner does: in-process, or the committed bundle as a process. */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'
import type { Environment } from '../../src/action/inputs.ts'
import { runAction as runInProcess } from '../../src/action/run-action.ts'
import { quickClock } from '../quick-clock.ts'
import type { GitHubServer } from './github-server.ts'

const BUNDLE = fileURLToPath(new URL('../../action/index.cjs', import.meta.url))

export interface ActionEnded {
  readonly code: number | null
  readonly log: string
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
}

export interface Repository {
  readonly folder: string
  readonly git: (...args: readonly string[]) => string
  readonly write: (file: string, content: string) => void
  /** Commits everything; returns the commit. */
  readonly commit: (message: string) => string
}

export const makeRepository = (folder = mkdtempSync(join(tmpdir(), 'espalier-action-'))): Repository => {
  const repository = repositoryIn(folder)
  repository.git('init', '-q', '-b', 'main')
  return repository
}

/** A copy of the folder, which is ten times as fast as a clone. */
export const copyOf = ({ folder }: Repository): Repository => {
  const copy = mkdtempSync(join(tmpdir(), 'espalier-action-'))
  cpSync(folder, copy, { recursive: true })
  return repositoryIn(copy)
}

/** Writes a commit of files without folders. Starts no process, as git would for each of its commands. @returns its id. */
export const writeCommit = (
  folder: string,
  files: Readonly<Record<string, string>>,
  parents: readonly string[],
): string => {
  const store = (type: string, content: Buffer): Buffer => {
    const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    const id = createHash('sha1').update(object).digest()
    const [, first = '', rest = ''] = /^(..)(.+)$/.exec(id.toString('hex')) ?? []
    mkdirSync(join(folder, '.git/objects', first), { recursive: true })
    writeFileSync(join(folder, '.git/objects', first, rest), deflateSync(object))
    return id
  }
  const entries = Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const tree = entries.flatMap(([name, text]) => [Buffer.from(`100644 ${name}\0`), store('blob', Buffer.from(text))])
  const lines = [
    `tree ${store('tree', Buffer.concat(tree)).toString('hex')}`,
    ...parents.map((parent) => `parent ${parent}`),
    ...['author', 'committer'].map((who) => `${who} x <x@example.com> 1700000000 +0000`),
  ]
  return store('commit', Buffer.from(`${lines.join('\n')}\n\nx\n`)).toString('hex')
}

/** An existing repository. */
export const repositoryIn = (folder: string): Repository => {
  const git = (...args: readonly string[]): string =>
    execFileSync(
      'git',
      ['-c', 'user.name=x', '-c', 'user.email=x@example.com', '-c', 'commit.gpgsign=false', ...args],
      {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    ).trim()
  return {
    folder,
    git,
    write: (file, content) => writeFileSync(join(folder, file), content),
    commit: (message) => {
      git('add', '-A')
      // Prints the whole id, so that no other process has to find it.
      const said = git('-c', 'core.abbrev=40', 'commit', '--allow-empty', '-m', message)
      return /\b[0-9a-f]{40}\b/.exec(said)?.[0] ?? ''
    },
  }
}

export interface ActionRun {
  readonly repository: Repository
  readonly inputs: Readonly<Record<string, string>>
  readonly event?: { readonly name: string; readonly payload: object }
  readonly github?: GitHubServer
  readonly sha?: string
  readonly env?: Readonly<Record<string, string>>
  /** Sends SIGINT once the log contains this. */
  readonly interruptAt?: string
}

/** Runs the step in an environment like the runner's, and returns its outputs, log and summary. */
const runStep = async (
  { repository, inputs, event, github, sha = '', env = {} }: ActionRun,
  start: (env: Environment, cwd: string) => Promise<Pick<ActionEnded, 'code' | 'log'>>,
): Promise<ActionEnded> => {
  const scratch = mkdtempSync(join(tmpdir(), 'espalier-runner-'))
  const file = (name: string, content = ''): string => {
    writeFileSync(join(scratch, name), content)
    return join(scratch, name)
  }
  const [output, summary] = [file('output'), file('summary')]
  const ended = await start(
    {
      PATH: process.env.PATH,
      HOME: scratch,
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: repository.folder,
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_SHA: sha,
      GITHUB_EVENT_NAME: event?.name ?? 'workflow_dispatch',
      GITHUB_EVENT_PATH: file('event.json', JSON.stringify(event?.payload ?? {})),
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      RUNNER_TEMP: scratch,
      ...(github === undefined ? {} : { GITHUB_API_URL: github.url, GITHUB_GRAPHQL_URL: `${github.url}/graphql` }),
      ...(github === undefined ? {} : { 'INPUT_GITHUB-TOKEN': 'gh-token-123' }),
      ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
      ...env,
    },
    repository.folder,
  )
  return {
    ...ended,
    outputs: parseOutputs(readFileSync(output, 'utf8')),
    summary: readFileSync(summary, 'utf8'),
  }
}

/** Runs the source in-process. */
export const runAction = (run: ActionRun): Promise<ActionEnded> =>
  runStep(run, async (env, cwd) => {
    let log = ''
    const signals = new EventEmitter()
    const { interruptAt } = run
    const code = await runInProcess({
      env,
      cwd,
      write: (text) => {
        const before = log
        log += text
        if (interruptAt !== undefined && !before.includes(interruptAt) && log.includes(interruptAt))
          signals.emit('SIGINT')
      },
      clock: quickClock(),
      onSignal: (signal, handle) => {
        signals.on(signal, handle)
        return () => void signals.off(signal, handle)
      },
    })
    return { code, log }
  })

/** Runs the committed bundle as a process. */
export const runBundle = (run: ActionRun): Promise<ActionEnded> =>
  runStep(run, async (env, cwd) => {
    const child = spawn(process.execPath, [BUNDLE], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [log, errors, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.once('close', resolve)),
    ])
    return { code, log: log + errors }
  })

/** Parses outputs like the runner: `name<<delimiter`, lines, `delimiter`. The last value of a name counts. */
const parseOutputs = (content: string): Readonly<Record<string, string>> => {
  const outputs: Record<string, string> = {}
  const lines = content.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const [, name, delimiter] = /^([^<]+)<<(.+)$/.exec(lines[at] ?? '') ?? []
    if (name === undefined || delimiter === undefined) continue
    const end = lines.indexOf(delimiter, at + 1)
    outputs[name] = lines.slice(at + 1, end).join('\n')
    at = end
  }
  return outputs
}
