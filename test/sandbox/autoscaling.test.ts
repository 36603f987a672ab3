import { expect, test } from 'vitest'
import { caller, MAIN, openSandbox, P, PRIMARY, SEED } from './open-sandbox.ts'

const MINUTE = 60_000
const at = `${P}/endpoints/${PRIMARY}`

/** A compute of 1 to 4 CU. @param scaleToZero of the compute. */
const open = async (scaleToZero = 'never') => {
  const [shop] = SEED.projects
  const main = { ...shop.branches[0], computes: [{ id: PRIMARY, size: { min: 1, max: 4 }, scaleToZero }] }
  const lines: string[] = []
  const opened = await openSandbox({
    seed: { projects: [{ ...shop, branches: [main] }] },
    background: false,
    log: (line) => lines.push(line),
  })
  const { controlUrl, controlToken } = opened.sandbox
  const control = caller({ apiUrl: controlUrl, apiKey: controlToken })
  return {
    ...opened,
    control,
    load: (load: number | null, id = PRIMARY) => control('PUT', `/computes/${id}/load`, { load }),
    size: async () => (await control('GET', '/computes')).body.computes[0].size,
    resizes: () => lines.filter((line) => line.startsWith('size')),
  }
}

// control-api (simulated): memory
test('the size follows the load, at once upwards and after five minutes downwards', async () => {
  const { load, size, clock, resizes } = await open()
  expect(await size()).toBe(1)
  for (const [cu, expected] of [
    [0.9, 1],
    [0.91, 2],
    [3.6, 4],
    [90, 4],
  ] as const) {
    await load(cu)
    expect(await size(), `load ${cu}`).toBe(expected)
  }
  await load(1.5)
  await clock.advance(5 * MINUTE - 1)
  expect(await size()).toBe(4)
  // A load that needs the size restarts the five minutes.
  await load(3.5)
  await load(1.5)
  await clock.advance(5 * MINUTE - 1)
  expect(await size()).toBe(4)
  await clock.advance(1)
  expect(await size()).toBe(2)
  await load(null)
  await clock.advance(5 * MINUTE)
  expect(await size()).toBe(1)
  expect(resizes().map((line) => line.split('  ').slice(3).join(', '))).toEqual([
    '2 CU, 8 GB RAM, load 0.91',
    '4 CU, 16 GB RAM, load 3.60',
    '2 CU, 8 GB RAM, load 1.50',
    '1 CU, 4 GB RAM, load 0.00',
  ])
})

// control-api (simulated): automatic-resizes
test('a resize changes neither the compute nor its operations nor its connections, and is metered', async () => {
  const { load, call, clock, sandbox } = await open()
  const connection = await sandbox.control.connect(PRIMARY)
  const all = async () => [(await call('GET', at)).body, (await call('GET', `${P}/operations`)).body]
  const used = async () => (await call('GET', `${P}/branches/${MAIN}`)).body.branch.compute_time_seconds
  const [before, start] = [await all(), await used()]
  await clock.advance(60 * MINUTE)
  expect((await used()) - start).toBe(3_600)
  await load(3)
  expect(await all()).toEqual(before)
  await clock.advance(60 * MINUTE)
  expect((await used()) - start).toBe(3_600 + 4 * 3_600)
  expect(await all()).toEqual(before)
  expect(sandbox.control.connections().find(({ id }) => id === connection.id)?.closedAt).toBeUndefined()
})

test('the size ends with the suspension, and a restart or new limits begin with the minimum', async () => {
  const { load, size, clock, call, settle } = await open('5m')
  await load(3)
  await load(null)
  expect(await size()).toBe(4)
  await call('POST', `${at}/restart`)
  await settle()
  expect(await size()).toBe(1)
  await load(3)
  await load(null)
  await call('PATCH', at, { endpoint: { autoscaling_limit_min_cu: 2 } })
  await settle()
  expect(await size()).toBe(2)
  await clock.advance(6 * MINUTE)
  expect(await size()).toBeUndefined()
})

test('only a known compute has a load, which is a number from 0', async () => {
  const { load } = await open()
  expect((await load(1, 'ep-nobody')).status).toBe(404)
  expect((await load(-1)).status).toBe(400)
})
