/**
 * Runs a workflow with act (github.com/nektos/act) instead of GitHub's runner, on this machine and without containers.
 *
 * `ESPALIER_ACT` names the program (default: the one on the PATH). `ESPALIER_ACTIONS` names a folder with third-party
 * actions, as `actions/checkout@COMMIT` (others are fetched from GitHub).
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { parse } from 'yaml'

export const ACT: string | undefined = [
  process.env.ESPALIER_ACT ?? '',
  ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'act')),
].find((path) => path !== '' && existsSync(path))

export interface Workflow {
  /** The clone of the repository that act runs in. */
  readonly folder: string
  readonly file: string
  readonly event: { readonly name: string; readonly payload: object }
  readonly env: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  /** Contains the Action's source and bundle. */
  readonly project: string
}

export interface WorkflowEnded {
  readonly code: number | null
  readonly log: string
}

const FOREIGN = process.env.ESPALIER_ACTIONS ?? ''
const scratch = (): string => mkdtempSync(join(tmpdir(), 'espalier-act-'))
let cache: string | undefined

export const runWorkflow = async ({ folder, file, event, env, secrets, project }: Workflow): Promise<WorkflowEnded> => {
  const temporary = scratch()
  cache ??= join(scratch(), 'cache')
  const eventPath = join(temporary, 'event.json')
  writeFileSync(eventPath, JSON.stringify(event.payload))
  const actions = [...usedBy(readFileSync(join(folder, file), 'utf8'))].flatMap((action) => {
    const local = action.startsWith('espalier-dev/espalier@') ? bundleOf(project) : foreign(action)
    return local === undefined ? [] : ['--local-repository', `${action}=${local}`]
  })
  const args = [
    event.name,
    ...['--workflows', file, '--eventpath', eventPath, '--action-cache-path', cache],
    ...['--platform', 'ubuntu-latest=-self-hosted', '--no-skip-checkout', '--no-cache-server', '--pull=false'],
    ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...Object.entries(secrets).flatMap(([name, value]) => ['--secret', `${name}=${value}`]),
    ...actions,
  ]
  const child = spawn(ACT ?? 'act', args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill())
  const [out, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ])
  return { code, log: out + errors }
}

const usedBy = (workflow: string): ReadonlySet<string> => {
  const { jobs } = parse(workflow) as { jobs: Record<string, { steps: { uses?: string }[] }> }
  return new Set(Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? [])))
}

/** Only the Action, as in a checkout of a release. */
const bundleOf = (project: string): string => {
  const folder = scratch()
  cpSync(join(project, 'action.yml'), join(folder, 'action.yml'))
  cpSync(join(project, 'action'), join(folder, 'action'), { recursive: true })
  return folder
}

/** The files of a pinned commit; `undefined` if act has to fetch them. */
const foreign = (action: string): string | undefined =>
  FOREIGN !== '' && existsSync(join(FOREIGN, action)) ? join(FOREIGN, action) : undefined
