/** A repository with a pull request, the service and GitHub on loopback, and the Action to run against them. */
import { onTestFinished } from 'vitest'
import { type Sandbox, type Seed, startSandbox } from '../../src/sandbox/index.ts'
import { type GitHubServer, openGitHubServer } from './github-server.ts'
import { type ActionRun, copyOf, makeRepository, type Repository, runAction } from './run-action.ts'

export const KEY = 'live-key-0123456789'
const seedOf = (names: readonly string[]): Seed => ({
  projects: [
    {
      id: 'shop',
      branches: names.map((name) => ({ name, computes: [{ id: `ep-${name}`, size: 1, scaleToZero: 'never' }] })),
    },
  ],
})
export const manifest = (sizes: Readonly<Record<string, number>>): string =>
  [
    'version: 1',
    'project: shop',
    'branches:',
    ...Object.entries(sizes).map(([name, size]) => `  ${name}: { primary: { size: ${size} } }`),
    '',
  ].join('\n')

export interface World {
  readonly repository: Repository
  readonly github: GitHubServer
  readonly sandbox: Sandbox
  readonly run: (inputs: Readonly<Record<string, string>>, more?: Partial<ActionRun>) => ReturnType<typeof runAction>
}

const BASE = manifest({ main: 1, a: 2, b: 2, c: 2 })

/** Repositories by the versions of espalier.yaml that they contain. */
const templates = new Map<string, Repository>()

/** A repository with one commit for each of these versions of espalier.yaml. */
const repositoryWith = (...texts: readonly string[]): Repository => {
  const key = texts.join('\0')
  let template = templates.get(key)
  if (template === undefined) {
    template = makeRepository()
    for (const text of texts) {
      template.write('espalier.yaml', text)
      template.commit('manifests')
    }
    templates.set(key, template)
  }
  return copyOf(template)
}

export const openSandbox = (): Promise<Sandbox> =>
  startSandbox({ seed: seedOf(['main', 'a', 'b', 'c']), apiKey: KEY, timeScale: 200 })

/**
 * Three live computes have drifted from the first version of the manifests.
 *
 * @param shared by default, the world has a sandbox of its own.
 */
export const open = async (repository = repositoryWith(BASE), shared?: Sandbox): Promise<World> => {
  const sandbox = shared ?? (await openSandbox())
  if (shared === undefined) onTestFinished(() => sandbox.close())
  const github = await openGitHubServer()
  return {
    repository,
    github,
    sandbox,
    run: (inputs, more) =>
      runAction({ repository, github, inputs: { 'base-url': sandbox.apiUrl, 'api-key': KEY, ...inputs }, ...more }),
  }
}

/** The payload of `pull_request` with `types: [closed]` after a merge. */
export const merged = (event: ReturnType<typeof pullRequest>) => ({
  ...event,
  payload: { pull_request: { ...event.payload.pull_request, merged: true } },
})

export const pullRequest = ({ repository }: World, fork = false) => {
  const [headSha = '', baseSha = ''] = repository.git('rev-parse', 'HEAD', 'HEAD~1').split('\n')
  return {
    name: 'pull_request',
    payload: {
      pull_request: {
        number: 7,
        base: { sha: baseSha, repo: { full_name: 'acme/shop' } },
        head: { sha: headSha, repo: { full_name: fork ? 'stranger/shop' : 'acme/shop' } },
      },
    },
  }
}

export const withHead = async (sizes: Readonly<Record<string, number>> = { main: 4, a: 2, b: 2, c: 2 }) => {
  const world = await open(repositoryWith(BASE, manifest(sizes)))
  return { ...world, event: pullRequest(world) }
}
