/** A folder with manifests, and a sandbox, in which a test follows the hints of the program. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type FaultOrder, type Sandbox, type SandboxOptions, type Seed, startSandbox } from '../../src/sandbox/index.ts'
import { type Ended, espalier, type Running, start } from './espalier.ts'
import { environmentOf } from './real-computes.ts'

export const SHOP: Seed = {
  projects: [
    {
      id: 'shop',
      branches: [
        {
          name: 'main',
          computes: [
            { id: 'ep-main', size: 1, scaleToZero: 'never' },
            { id: 'ep-bi', type: 'read_only', name: 'bi', size: 1 },
          ],
        },
        { name: 'staging', computes: [{ id: 'ep-staging', size: 1, scaleToZero: 'never' }] },
        { name: 'spare' },
      ],
    },
  ],
}

export interface Printed {
  readonly code: number | null
  /** Everything that was printed, without line breaks, which depend on the width. */
  readonly text: string
}

export const printed = ({ code, stdout, stderr }: Ended): Printed => ({
  code,
  text: (stdout + stderr).replaceAll(/\s+/g, ' '),
})

export interface Stage {
  readonly sandbox: Sandbox
  readonly folder: string
  write(file: string, text: string): Promise<void>
  /** Replaces the manifest of the shop. */
  declare(body: string): Promise<void>
  run(...args: readonly string[]): Promise<Printed>
  start(...args: readonly string[]): Running
  /** Runs the command that the text suggests after `start`. @param more further arguments. */
  follow(printed: Printed, start: string, ...more: readonly string[]): Promise<Printed>
}

export const stage = async (
  body?: string,
  seed = SHOP,
  options: SandboxOptions = { timeScale: 100 },
): Promise<Stage> => {
  const sandbox = await startSandbox({ seed, ...options })
  onTestFinished(() => sandbox.close())
  const folder = await mkdtemp(join(tmpdir(), 'espalier-hints-'))
  const write = (file: string, text: string): Promise<void> => writeFile(join(folder, file), text)
  const declare = (text: string): Promise<void> => write('espalier.yaml', `version: 1\nproject: shop\n${text}\n`)
  const run = async (...args: readonly string[]): Promise<Printed> =>
    printed(await espalier(args, environmentOf(sandbox), folder))
  if (body !== undefined) await declare(body)
  return {
    sandbox,
    folder,
    write,
    declare,
    run,
    start: (...args) => start(args, environmentOf(sandbox), folder),
    follow: ({ text }, start, ...more) => {
      const [, suggested = ''] = text.split(start)
      const [, command] = /^espalier ([^`]*?)(?=[`.]* ?$|`|\. [A-Z])/.exec(suggested) ?? []
      expect(command, `${start} in: ${text}`).toBeDefined()
      const words = command?.match(/'[^']*'|[^ ]+/g) ?? []
      return run(...words.map((word) => word.replaceAll("'", '')), ...more)
    },
  }
}

export const liveComputes = async ({ sandbox }: Stage): Promise<readonly string[]> => {
  const headers = { authorization: `Bearer ${sandbox.apiKey}` }
  const response = await fetch(`${sandbox.apiUrl}/projects/shop/endpoints`, { headers })
  const { endpoints } = (await response.json()) as { endpoints: { id: string }[] }
  return endpoints.map(({ id }) => id).sort()
}

export const onOperation = (effect: Extract<FaultOrder, { on: 'operation' }>['effect']): FaultOrder => ({
  on: 'operation',
  action: 'apply_config',
  effect,
})
