/** A repository on a git server, GitHub and the service on loopback, and a clone for act to run workflows in. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { startSandbox } from '../../src/sandbox/index.ts'
import { KEY, manifest } from '../action/action-world.ts'
import { openGitHubServer } from '../action/github-server.ts'
import { openGitServer } from '../git-server.ts'
import { runWorkflow } from './act.ts'
import { openArtifactServer } from './artifact-server.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const TOKEN = 'gh-token-123'
const NAMES = ['main', 'a', 'b', 'c'] as const

export type RunnerWorld = Awaited<ReturnType<typeof openRunnerWorld>>

/** On `main`, the manifests match the live project. */
export const openRunnerWorld = async (workflow: string, ...others: readonly string[]) => {
  const sandbox = await startSandbox({
    seed: {
      projects: [
        {
          id: 'shop',
          branches: NAMES.map((name) => ({ name, computes: [{ id: `ep-${name}`, size: 1, scaleToZero: 'never' }] })),
        },
      ],
    },
    apiKey: KEY,
    timeScale: 200,
  })
  onTestFinished(() => sandbox.close())
  const github = await openGitHubServer()
  const root = mkdtempSync(join(tmpdir(), 'espalier-runner-'))
  const server = await openGitServer(root, TOKEN)
  const artifacts = await openArtifactServer()
  const remote = join(root, 'acme/shop')
  const folder = join(root, 'clone')
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', remote])
  execFileSync('git', ['-C', remote, 'config', 'uploadpack.allowAnySHA1InWant', 'true'])
  execFileSync('git', ['-C', remote, 'config', 'http.receivepack', 'true'])
  execFileSync('git', ['clone', '-q', remote, folder], { stdio: 'ignore' })
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const commit = (message: string): string => {
    git('add', '-A')
    git('commit', '-q', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  const historyOf = () => github.history.get(7) ?? { head: '', author: 'ann', reviews: [], commits: [] }
  const pathOf = (name: string): string => `.github/workflows/${name}`
  for (const name of [workflow, ...others]) {
    write(pathOf(name), forHere(readFileSync(join(PROJECT, 'examples/workflows', name), 'utf8'), sandbox.apiUrl))
  }
  write('espalier.yaml', manifest({ main: 1, a: 1, b: 1, c: 1 }))
  const base = commit('base')
  git('push', '-q', 'origin', 'main')

  const run = (event: { readonly name: string; readonly payload: object }, key = KEY, name = workflow) =>
    runWorkflow({
      folder,
      file: pathOf(name),
      event: { ...event, payload: { repository: REPOSITORY, ...event.payload } },
      env: {
        ...artifacts,
        GITHUB_REPOSITORY: 'acme/shop',
        // The artifact actions, which only such runs use, take any other name for a GitHub Enterprise Server.
        GITHUB_SERVER_URL: event.name === 'workflow_dispatch' ? server.replace('127.0.0.1', 'git.localhost') : server,
        GITHUB_API_URL: github.url,
        GITHUB_GRAPHQL_URL: `${github.url}/graphql`,
      },
      secrets: { GITHUB_TOKEN: TOKEN, ESPALIER_PLAN_KEY: key, ESPALIER_API_KEY: key },
      project: PROJECT,
    })

  return {
    sandbox,
    github,
    folder,
    git,
    write,
    base,
    copy: (path: string) => cpSync(join(PROJECT, path), join(folder, path), { recursive: true }),
    run,
    /** Fails with the log unless the workflow succeeds. */
    pass: async (...args: Parameters<typeof run>): Promise<string> => {
      const { code, log } = await run(...args)
      if (code !== 0) throw new Error(log)
      return log
    },
    /** Pushes a version of the manifest to `main`. */
    push: (text: string): void => {
      write('espalier.yaml', text)
      commit('push')
      git('push', '-q', 'origin', 'main')
    },
    /** Commits to a branch, merges it like GitHub does for a pull request, and checks out the merge. */
    openPull: (files: Readonly<Record<string, string>>, isFork = false) => {
      git('checkout', '-q', '-b', 'feature')
      for (const [path, text] of Object.entries(files)) write(path, text)
      const head = commit('head')
      git('checkout', '-q', '--detach', 'main')
      git('merge', '-q', '--no-ff', '-m', 'merge', 'feature')
      git('push', '-q', 'origin', 'HEAD:refs/pull/7/merge', 'feature:refs/pull/7/head')
      github.history.set(7, { head, author: 'ann', reviews: [], commits: [{ authors: ['ann'] }] })
      return {
        action: 'opened',
        number: 7,
        pull_request: {
          number: 7,
          base: { sha: base, ref: 'main', repo: REPOSITORY },
          head: {
            sha: head,
            ref: 'feature',
            repo: isFork ? { ...REPOSITORY, full_name: 'stranger/shop' } : REPOSITORY,
          },
        },
      }
    },
    /** Approves the same pull request. */
    approve: () => github.history.set(7, { ...historyOf(), reviews: [{ login: 'rob', at: Date.now() + 120_000 }] }),
    /** Merges the same pull request into `main`. */
    merge: () => {
      const [before, head] = [git('rev-parse', 'origin/main'), git('rev-parse', 'feature')]
      const sha = git('rev-parse', 'HEAD')
      git('checkout', '-q', '-B', 'main')
      git('push', '-q', 'origin', 'main')
      github.merged.set(sha, 7)
      github.main = sha
      github.history.set(7, { ...historyOf(), merged: { commit: sha, at: Date.now() + 180_000 } })
      return { ref: 'refs/heads/main', before, after: sha, commits: [{ id: head }, { id: sha }] }
    },
  }
}

const REPOSITORY = {
  full_name: 'acme/shop',
  name: 'shop',
  owner: { login: 'acme' },
  default_branch: 'main',
}

/** The only change to an example: the base URL, in each step that has the key. */
const forHere = (workflow: string, apiUrl: string): string =>
  workflow.replaceAll(/^( +)api-key: .*$/gm, (line, indent: string) => `${line}\n${indent}base-url: ${apiUrl}`)
