/** A plan of ten steps. The program applies it as a process, to a sandbox in this process that sees every request. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReadApi } from '../../src/api/index.ts'
import { type Sandbox, type Seed, startSandbox } from '../../src/sandbox/index.ts'
import { planLive, readManifests } from '../../src/workflow/index.ts'
import { type Ended, espalier, ROOT, type RunningProcess, startProcess } from './espalier.ts'

export const STEPS = 10
const PROJECT = 'ten-steps-00000001'

/**
 * No compute scales to zero, because on a busy machine a compute could be idle before its step, which would then have
 * no operations.
 */
const SEED: Seed = {
  projects: [
    {
      id: PROJECT,
      branches: [
        {
          name: 'main',
          computes: [{ id: 'ep-main-00000001', size: 1, scaleToZero: 'never' }],
        },
        {
          name: 'staging',
          computes: [
            { id: 'ep-reporting-00000003', type: 'read_only', name: 'reporting', size: 1, scaleToZero: 'never' },
          ],
        },
        {
          name: 'archive',
          computes: [
            { id: 'ep-archive-00000004', size: 1, scaleToZero: 'never' },
            { id: 'ep-unasked-00000002', type: 'read_only', name: 'unasked', size: 1, scaleToZero: 'never' },
          ],
        },
        { name: 'damaged', computes: [{ id: 'ep-moving-00000005', size: 1, scaleToZero: 'never' }] },
        { name: 'restored' },
      ],
    },
  ],
}

const MANIFEST = `
version: 1
project: ${PROJECT}
branches:
  main:
    primary: { size: 2 }
    replicas: { first: { size: 1 }, second: { size: 1 }, third: { size: 1 } }
  staging:
    primary: { size: 0.5 }
    replicas: { reporting: { size: 2 } }
  archive:
    primary: absent
  restored:
    primary: { id: ep-moving-00000005 }
    replicas: { reader: { size: 1 } }
prune: true
`

/** The result of the ten steps, whether or not they were interrupted. */
const WANTED = [
  'main/first 1',
  'main/primary 2',
  'main/second 1',
  'main/third 1',
  'restored/primary 1',
  'restored/reader 1',
  'staging/primary 0.5',
  'staging/reporting 2',
]

export interface TenSteps {
  readonly sandbox: Sandbox
  /** Folder with the manifest and other files of the test. */
  readonly folder: string
  apply(...more: readonly string[]): RunningProcess
  /** Starts `apply` through another program, such as `unshare`. */
  applyBy(before: readonly string[], ...more: readonly string[]): RunningProcess
  /** Arguments of `apply`. */
  command(...more: readonly string[]): {
    readonly args: readonly string[]
    readonly env: Readonly<Record<string, string>>
  }
  /** Applies again, and returns the problems left: none if the project matches its manifest and no step is left. */
  applyAgain(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface TenStepsOptions {
  /**
   * Called for each request of the program, before its response is sent. `changes` counts accepted changes: a
   * rejected one (423) is sent again and does not count.
   */
  readonly onRequest?: (method: string, path: string, changes: number) => void
  readonly env?: Readonly<Record<string, string>>
}

export const tenSteps = async ({ onRequest, env = {} }: TenStepsOptions = {}): Promise<TenSteps> => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-ten-'))
  const manifest = join(folder, 'espalier.yaml')
  await writeFile(manifest, MANIFEST)
  let changes = 0
  const sandbox = await startSandbox({
    seed: SEED,
    timeScale: 50,
    background: false,
    onRequest: (method, path, status) => {
      if (method !== 'GET' && status < 400) changes += 1
      onRequest?.(method, path, changes)
    },
  })
  const environment = { ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey }
  const consent = ['--auto-approve', '--allow', 'restart,move,delete']
  const command: TenSteps['command'] = (...more) => ({
    args: ['apply', manifest, ...consent, ...more],
    env: { ...environment, ...env },
  })
  const applyBy: TenSteps['applyBy'] = (before, ...more) => {
    const { args, env } = command(...more)
    return startProcess(args, env, ROOT, before)
  }
  return {
    sandbox,
    folder,
    command,
    applyBy,
    apply: (...more) => applyBy([], ...more),
    applyAgain: async () => {
      const applied = await espalier(['apply', manifest, ...consent], environment)
      const left = await leftOver(sandbox, manifest)
      const live = await liveOf(sandbox)
      return [
        ...(applied.code === 0 ? [] : [`apply: ${said(applied)}`]),
        ...left.map((step) => `left over: ${step}`),
        ...(live.join() === WANTED.join() ? [] : [`live: ${live.join()}`]),
      ]
    },
    close: async () => {
      await sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const said = ({ code, stdout, stderr }: Ended): string => `${code}\n${stdout}\n${stderr}`

/** The steps of a new plan. */
const leftOver = async ({ apiUrl, apiKey }: Sandbox, manifest: string): Promise<readonly string[]> => {
  const api = createReadApi({ baseUrl: apiUrl, apiKey })
  const { result } = await planLive(api, await readManifests([manifest]), { concurrency: 1, readsOperations: false })
  await api.close()
  return result.ok ? result.plan.steps.map(({ id }) => id) : result.diagnostics.map(({ message }) => message)
}

/** `branch/name size`, sorted. */
const liveOf = async ({ control }: Sandbox): Promise<readonly string[]> => {
  const sizes = new Map(
    control
      .dump()
      .changes.flatMap((change) =>
        'put' in change && change.put.kind === 'compute' ? [[change.put.id, change.put.max] as const] : [],
      ),
  )
  const computes = await control.computes()
  return computes
    .map(({ id, branchName, type, name }) => {
      const role = type === 'read_write' ? 'primary' : (name ?? id)
      return `${branchName}/${role} ${sizes.get(id)}`
    })
    .toSorted()
}
