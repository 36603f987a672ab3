/** Availability checks of real computes. */
import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Sandbox, Seed } from '../../src/sandbox/index.ts'
import { type Client, clientAt, withReal } from '../e2e/real-computes.ts'

const HOUR = 3_600_000

const idle = { size: 0.25, state: 'idle' } as const
const SOUND = { id: 'sound', branches: [{ id: 'br-sound', name: 'main', computes: [{ id: 'ep-sound', ...idle }] }] }
const NEEDED = { id: 'needed', branches: [{ name: 'main', computes: [{ id: 'ep-needed', ...idle }] }] }
const UNREADABLE = { settings: { work_mem: 'much' } }
const BROKEN = { id: 'broken', branches: [{ name: 'main', computes: [{ ...idle, postgres: UNREADABLE }] }] }
const ACTIVE = {
  id: 'active',
  branches: [{ name: 'main', computes: [{ id: 'ep-active', size: 0.25, scaleToZero: 'never' }] }],
}
const REPLICA = { id: 'replica', branches: [{ name: 'main', computes: [{ type: 'read_only' as const, ...idle }] }] }

/** A jump of the clock checks each project once. */
const open = async (projects: Seed['projects'], log: (line: string) => void) => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-availability-'))
  const sandbox = await withReal({ log: (line) => log(line), stateDir: folder, seed: { projects } })
  const get = async (path: string) => {
    const answer = await fetch(`${sandbox.apiUrl}/projects/${path}`, {
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
    })
    // biome-ignore lint/suspicious/noExplicitAny: a response body can have any shape.
    return (await answer.json()) as any
  }
  const checkOf = async (project: string) => {
    const { operations } = await get(`${project}/operations`)
    return operations.find(({ action }: { action: string }) => action === 'check_availability')
  }
  return { sandbox, get, checkOf, postmaster: join(folder, 'postgres/branches/br-sound/postmaster.pid') }
}

const uriOf = async ({ control }: Sandbox, id: string): Promise<string> =>
  (await control.computes()).find((compute) => compute.id === id)?.uri ?? ''

// control-api (postgres): check-finds-broken
test('a check starts an idle primary for a moment, changes no record of it, finds one that cannot start, and leaves its server to a client', async () => {
  let connected: Promise<Client> | undefined
  let uri = ''
  const { sandbox, get, checkOf, postmaster } = await open([SOUND, BROKEN, ACTIVE, REPLICA, NEEDED], (line) => {
    if (line.includes('check_availability  ep-needed  running')) connected = clientAt(uri)
  })
  uri = await uriOf(sandbox, 'ep-needed')
  await (await clientAt(await uriOf(sandbox, 'ep-active'))).close()
  const before = await get('sound/endpoints/ep-sound')
  await sandbox.clock.advance(13 * HOUR)
  const ended = (project: string, status: string) => expect.poll(() => checkOf(project)).toMatchObject({ status })
  await ended('sound', 'finished')
  expect(await get('sound/endpoints/ep-sound')).toEqual(before)
  expect(existsSync(postmaster)).toBe(false)
  await ended('broken', 'failed')
  const { failures_count, error, retry_at } = await checkOf('broken')
  expect({ failures_count, error, retry_at }).toEqual({
    failures_count: 1,
    error: expect.stringContaining('work_mem'),
    retry_at: undefined,
  })
  await ended('active', 'finished')
  await ended('replica', 'skipped')

  const client = await connected
  expect(await client?.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  await ended('needed', 'skipped')
  expect((await get('needed/endpoints/ep-needed')).endpoint).toMatchObject({ current_state: 'active' })
  expect(await client?.query('SELECT 2 AS two')).toEqual([{ two: 2 }])
  await client?.close()
})
