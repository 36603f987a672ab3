/** Autoscaling of real computes. */
import { expect, test } from 'vitest'
import { type Client, clientOf, withReal } from '../e2e/real-computes.ts'
import { isLong } from '../long-runs.ts'

const ID = 'ep-main'
const open = async (timeScale = 1) => {
  const size = { min: 0.25, max: 4 }
  const lines: string[] = []
  const sandbox = await withReal({
    timeScale,
    log: (line) => lines.push(line),
    seed: {
      projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ id: ID, size, scaleToZero: 'never' }] }] }],
    },
  })
  return {
    sandbox,
    lines,
    client: await clientOf(sandbox, ID),
    sizeOf: async () => (await sandbox.control.computes()).find(({ id }) => id === ID)?.size,
  }
}

/** In a single session: what must not change, and what must. */
const shown = async (client: Client) => {
  const [row] = await client.query(`
    SELECT pg_postmaster_start_time()::text AS start, pg_backend_pid() AS pid,
           current_setting('neon.file_cache_size_limit') AS now, current_setting('neon.max_file_cache_size') AS most`)
  return row
}

// control-api (postgres): automatic-resizes, memory, cache
test('a resize changes the cache size, and neither ends a session nor restarts Postgres', async () => {
  const { sandbox, lines, client, sizeOf } = await open()
  const before = await shown(client)
  expect(before).toMatchObject({ now: '768MB', most: '12288MB' })
  for (const [load, size, now] of [
    [0.4, 0.5, '1536MB'],
    [2.1, 3, '9216MB'],
  ] as const) {
    sandbox.control.setLoad(ID, load)
    expect(await sizeOf()).toBe(size)
    await expect.poll(() => shown(client)).toEqual({ ...before, now })
  }
  expect(lines.flatMap((line) => /^size .*? {2}([\d.]+ CU {2}.* RAM)/.exec(line)?.[1] ?? [])).toEqual([
    '0.5 CU  2 GB RAM',
    '3 CU  12 GB RAM',
  ])
  await client.query(`SET neon.file_cache_size_limit = '1GB'`)
  expect(await client.query(`SELECT 1 FROM pg_settings WHERE name LIKE 'neon.%'`)).toEqual([])
  await client.close()
})

test.runIf(isLong)(
  'queries that run are a load, and those that wait or sleep are not',
  { timeout: 60_000 },
  async () => {
    const { sandbox, client, sizeOf } = await open(20)
    const before = await shown(client)
    const others = await Promise.all(Array.from({ length: 4 }, () => clientOf(sandbox, ID)))
    const sleeping = others.map((other) => other.query('SELECT pg_sleep(4)'))
    await Promise.all(sleeping)
    expect(await sizeOf()).toBe(0.25)
    const LOOP = 'SELECT count(*) FROM generate_series(1, 1e8)'
    const busy = others.slice(0, 2).map((other) => other.query(LOOP).catch(() => undefined))
    await expect.poll(sizeOf, { timeout: 30_000 }).toBeGreaterThan(1)
    await client.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = '${LOOP}'`)
    await Promise.all(busy)
    await expect.poll(sizeOf, { timeout: 30_000 }).toBe(0.25)
    expect(await shown(client)).toEqual(before)
    await Promise.all([client, ...others].map((one) => one.close()))
  },
)
