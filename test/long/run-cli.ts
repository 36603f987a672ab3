/** Runs the service's command-line tool as a process, on a sandbox behind a proxy that validates every exchange. */
import { spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import { startCheckingProxy } from '../clients/checking-proxy.ts'

export const PROJECT = 'quiet-river-12345678'
export const ORG = 'org-acme-12345678'
export const MAIN = 'br-calm-lake-a0000001'
export const PRIMARY = 'ep-calm-lake-a0000001'

export const PROGRAMS = [
  ['neonctl 5.0.1', 'node_modules/neonctl/bin/cli.js'],
  ['neon 6.2.3', 'node_modules/neon/dist/cli.js'],
] as const

export interface Ran {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: the tool's output; the assertions check its shape.
  readonly json: any
}

export interface Cli {
  readonly sandbox: Sandbox
  readonly folder: string
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>
  /** Reads from the sandbox's API. */
  // biome-ignore lint/suspicious/noExplicitAny: the response body can be anything.
  get(path: string): Promise<any>
  /** Resolves once no operation is running in the project. */
  settled(): Promise<void>
  /** Differences from both OpenAPI documents. */
  readonly problems: readonly string[]
}

export const openCli = async (program: string, options: SandboxOptions): Promise<Cli> => {
  const sandbox = await startSandbox({
    background: false,
    seed: {
      projects: [
        {
          id: PROJECT,
          name: 'shop',
          org: ORG,
          operations: 3,
          branches: [{ id: MAIN, name: 'main', computes: [{ id: PRIMARY, size: 1, scaleToZero: 'never' }] }],
        },
      ],
    },
    ...options,
  })
  onTestFinished(() => sandbox.close())
  const proxy = await startCheckingProxy(sandbox.apiUrl)
  const folder = await mkdtemp(join(tmpdir(), 'espalier-cli-'))
  const get = async (path: string) => {
    const answer = await fetch(`${sandbox.apiUrl}${path}`, { headers: { authorization: `Bearer ${sandbox.apiKey}` } })
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    return (await answer.json()) as any
  }
  return {
    sandbox,
    folder,
    problems: proxy.problems,
    get,
    settled: async () => {
      const running = async (): Promise<number> => {
        const { operations = [] } = await get(`/projects/${PROJECT}/operations?limit=20`)
        return operations.filter(({ status }: { status: string }) => status === 'running' || status === 'scheduling')
          .length
      }
      await expect.poll(running).toBe(0)
    },
    run: async (args, env = {}) => {
      const common = ['--api-host', proxy.apiUrl, '--api-key', sandbox.apiKey, '--no-analytics']
      const child = spawn(
        process.execPath,
        [join(process.cwd(), program), ...common, '--config-dir', folder, '-o', 'json', ...args],
        {
          cwd: folder,
          // Prevents access to anything but the sandbox.
          env: {
            PATH: process.env.PATH,
            HOME: folder,
            CI: '1',
            HTTPS_PROXY: 'http://127.0.0.1:9',
            NO_PROXY: '127.0.0.1',
            ...env,
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      )
      const output = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (text: string) => {
          output[name] += text
        })
      }
      const code = await new Promise((resolve) => child.once('close', resolve))
      return { code, ...output, json: parsed(output.stdout) }
    },
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
