import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { manualClock } from '../../src/sandbox/clock.ts'
import { resolveSeed } from '../../src/sandbox/seed/seed.ts'
import { seedRecords } from '../../src/sandbox/seed/seed-records.ts'
import { suspendCompute } from '../../src/sandbox/world/compute-commands.ts'
import { memoryStore } from '../../src/sandbox/world/records.ts'
import { World } from '../../src/sandbox/world/world.ts'
import { type Call, openSandbox, P, PRIMARY, SEED } from './open-sandbox.ts'

const INSTANT = { start_compute: 0, suspend_compute: 0 }
const idsOf = (operations: readonly { id: string }[]): readonly string[] => operations.map(({ id }) => id)

/** Reads pages until an empty one. Calls `between` before each page except the first. */
const readAll = async (call: Call, limit: number, between: () => Promise<unknown> = async () => undefined) => {
  const pages: (readonly string[])[] = []
  let cursor = ''
  for (;;) {
    const { body } = await call('GET', `${P}/operations?limit=${limit}&cursor=${encodeURIComponent(cursor)}`)
    if (body.operations.length === 0) {
      expect(body.pagination.cursor, 'an empty page repeats the cursor').toBe(cursor)
      return pages
    }
    expect(body.pagination.cursor).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    pages.push(idsOf(body.operations))
    cursor = body.pagination.cursor
    await between()
  }
}

test('with any page size, each operation is listed once and newest first, even if all start at the same time', async () => {
  const { call, clock } = await openSandbox({ durations: INSTANT })
  const made: string[] = []
  for (let turn = 0; turn < 6; turn += 1) {
    const { body } = await call('POST', `${P}/endpoints/${PRIMARY}/restart`)
    made.push(...idsOf(body.operations))
    await clock.advance(0)
  }
  for (let limit = 1; limit <= made.length + 1; limit += 1) {
    const pages = await readAll(call, limit)
    expect(pages.flat()).toEqual(made.toReversed())
    expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true)
  }
})

test('operations that start between requests for two pages cause no duplicates or gaps', async () => {
  const { call, clock } = await openSandbox({ durations: INSTANT })
  const restart = async () => {
    const { body } = await call('POST', `${P}/endpoints/${PRIMARY}/restart`)
    await clock.advance(0)
    return idsOf(body.operations)
  }
  const made: string[] = []
  for (let turn = 0; turn < 6; turn += 1) made.push(...(await restart()))
  expect((await readAll(call, 5, restart)).flat()).toEqual(made.toReversed())
})

test('operation durations vary around the configured value', async () => {
  const { call, settle } = await openSandbox({ durations: { start_compute: 1_000, suspend_compute: 1_000 } })
  for (let turn = 0; turn < 5; turn += 1) {
    await call('POST', `${P}/endpoints/${PRIMARY}/restart`)
    await settle()
  }
  const { body } = await call('GET', `${P}/operations`)
  const took: number[] = body.operations.map((row: { total_duration_ms: number }) => row.total_duration_ms)
  expect(new Set(took).size).toBeGreaterThan(5)
  expect(Math.min(...took)).toBeGreaterThanOrEqual(900)
  expect(Math.max(...took)).toBeLessThanOrEqual(1_100)
})

test('a seed can define past operations, and new operations are listed after them', async () => {
  const [shop] = SEED.projects
  const { call } = await openSandbox({ seed: { projects: [{ ...shop, operations: 250 }] } })
  expect((await readAll(call, 100)).flat()).toHaveLength(250)
  const { body } = await call('POST', `${P}/endpoints/${PRIMARY}/restart`)
  const newest = await call('GET', `${P}/operations?limit=3`)
  expect(idsOf(newest.body.operations).slice(0, 2)).toEqual(idsOf(body.operations).toReversed())
  expect(newest.body.operations[2]).toMatchObject({ status: 'finished', total_duration_ms: expect.any(Number) })
})

test('the fault slow makes an operation longer, also if the work on the compute backend takes time', async () => {
  const clock = manualClock()
  let finishWork: () => void = () => undefined
  const world = new World({
    clock,
    store: memoryStore,
    keepsHistory: false,
    durations: INSTANT,
    faultOf: () => ({ kind: 'slow', ms: 1_000 }),
    begin: () =>
      new Promise<void>((resolve) => {
        finishWork = resolve
      }),
    log: () => undefined,
  })
  world.restore(seedRecords(resolveSeed(SEED), clock.now()).map((put) => ({ put })))
  const project = SEED.projects[0].id
  suspendCompute(world, project, PRIMARY)
  await clock.advance(5_000)
  finishWork()
  await setImmediate()
  await clock.advance(999)
  expect(world.compute(project, PRIMARY).state).toBe('active')
  await clock.advance(1)
  expect(world.compute(project, PRIMARY).state).toBe('idle')
})
