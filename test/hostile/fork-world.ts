/** A base repository, the runner's checkout of it, and an untrusted pull request from a fork. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Sandbox, type Seed, startSandbox } from '../../src/sandbox/index.ts'
import { type GitHubServer, openGitHubServer } from '../action/github-server.ts'
import { type ActionEnded, makeRepository, type Repository, repositoryIn, runAction } from '../action/run-action.ts'

export const KEY = 'live-key-0123456789'

export interface ForkWorld {
  /** The fork, whose commit has the base's commit as its parent. */
  readonly fork: Repository
  /** The checkout for `pull_request_target`: the base, one commit deep. */
  readonly checkout: Repository
  readonly github: GitHubServer
  readonly sandbox: Sandbox
  /** Publishes the fork's HEAD as the pull request's head, and GitHub's merge of it with the base. */
  readonly open: (options?: { readonly merge?: boolean }) => string
  /** With `isTrusted`, the pull request is from a branch of the base repository. */
  readonly run: (
    inputs?: Readonly<Record<string, string>>,
    event?: { readonly name?: string; readonly merged?: boolean; readonly isTrusted?: boolean },
  ) => Promise<ActionEnded>
  /** Without the request for the kind of key, which is not about a project. */
  readonly requests: () => ReturnType<Sandbox['control']['requests']>
}

const NUMBER = 7

interface Repositories {
  readonly folder: string
  readonly baseSha: string
}

const templates = new Map<string, Repositories>()

/** `origin`, `fork` and `checkout` with these files at the base. Copies a folder, which is ten times as fast as git. */
const copyOfRepositories = (base: Readonly<Record<string, string>>): Repositories => {
  const key = JSON.stringify(base)
  const template = templates.get(key) ?? makeRepositories(base)
  templates.set(key, template)
  const folder = mkdtempSync(join(tmpdir(), 'espalier-fork-'))
  cpSync(template.folder, folder, { recursive: true })
  for (const name of ['fork', 'checkout']) {
    const config = join(folder, name, '.git/config')
    writeFileSync(config, readFileSync(config, 'utf8').replace(template.folder, folder))
  }
  return { folder, baseSha: template.baseSha }
}

const makeRepositories = (base: Readonly<Record<string, string>>): Repositories => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-fork-'))
  const make = (name: string): Repository => {
    mkdirSync(join(folder, name))
    return makeRepository(join(folder, name))
  }
  const origin = make('origin')
  origin.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  origin.git('config', 'receive.denyCurrentBranch', 'ignore')
  for (const [file, content] of Object.entries(base)) origin.write(file, content)
  const baseSha = origin.commit('base')
  const clone = (name: string, ...options: readonly string[]): void => {
    const repository = make(name)
    repository.git('remote', 'add', 'origin', `file://${origin.folder}`)
    repository.git('fetch', '-q', ...options, 'origin', 'main')
    repository.git('checkout', '-q', '-B', 'main', 'FETCH_HEAD')
  }
  clone('fork')
  clone('checkout', '--depth=1')
  // As on GitHub, forks share their objects with the base, so a pull request only adds refs.
  mkdirSync(join(folder, 'origin/.git/objects/info'), { recursive: true })
  writeFileSync(join(folder, 'origin/.git/objects/info/alternates'), '../../../fork/.git/objects\n')
  return { folder, baseSha }
}

export const openForkWorld = async (seed: Seed, base: Readonly<Record<string, string>>): Promise<ForkWorld> => {
  const sandbox = await startSandbox({ seed, apiKey: KEY, timeScale: 200 })
  onTestFinished(() => sandbox.close())
  const github = await openGitHubServer()
  const { folder, baseSha } = copyOfRepositories(base)
  const [fork, checkout] = [repositoryIn(join(folder, 'fork')), repositoryIn(join(folder, 'checkout'))]
  let headSha = ''
  const refs = join(folder, `origin/.git/refs/pull/${NUMBER}`)
  mkdirSync(refs, { recursive: true })
  const publish = (name: string, commit: string): void => writeFileSync(join(refs, name), `${commit}\n`)
  return {
    fork,
    checkout,
    github,
    sandbox,
    requests: () => sandbox.control.requests().filter(({ path }) => path !== '/auth'),
    open: ({ merge = true } = {}) => {
      const [head = '', tree = ''] = fork.git('rev-parse', 'HEAD', 'HEAD^{tree}').split('\n')
      headSha = head
      publish('head', head)
      if (merge) publish('merge', fork.git('commit-tree', tree, '-p', baseSha, '-p', head, '-m', 'merge'))
      return head
    },
    run: (
      inputs = {},
      { isTrusted = false, name = isTrusted ? 'pull_request' : 'pull_request_target', merged = false } = {},
    ) =>
      runAction({
        repository: isTrusted ? fork : checkout,
        github,
        sha: isTrusted ? headSha : baseSha,
        inputs: { 'base-url': sandbox.apiUrl, 'api-key': KEY, command: 'plan', ...inputs },
        event: {
          name,
          payload: {
            pull_request: {
              number: NUMBER,
              merged,
              base: { sha: baseSha, repo: { full_name: 'acme/shop' } },
              head: { sha: headSha, repo: { full_name: isTrusted ? 'acme/shop' : 'stranger/shop' } },
            },
          },
        },
      }),
  }
}

/** Commits raw tree entries (mode, kind, id, name), which git itself would never create from files. */
export const commitTree = (
  { folder, git }: Repository,
  entries: readonly (readonly [mode: string, name: string, id: string])[],
): string => {
  const tree = Buffer.concat(
    entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  )
  const options = { cwd: folder, encoding: 'utf8', input: tree } as const
  const id = execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], options).trim()
  return git('commit-tree', id, '-p', 'HEAD', '-m', 'crafted')
}

export const blob = ({ folder }: Repository, content: string): string =>
  execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: folder, encoding: 'utf8', input: content }).trim()
