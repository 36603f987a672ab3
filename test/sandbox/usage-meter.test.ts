import { expect, test } from 'vitest'
import { createReadApi, pastOperations, snapshot } from '../../src/api/index.ts'
import { costReport } from '../../src/cost/index.ts'
import type { Observed } from '../../src/model/index.ts'
import { manualClock, startSandbox } from '../../src/sandbox/index.ts'
import type { ComputeRecord } from '../../src/sandbox/world/records.ts'
import { monthOf, UsageMeter } from '../../src/sandbox/world/usage-meter.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 10, 1)

const compute = (state: ComputeRecord['state'], more: Partial<ComputeRecord> = {}): ComputeRecord => ({
  kind: 'compute',
  id: 'ep-1',
  projectId: 'p',
  branchId: 'br-1',
  type: 'read_write',
  min: 2,
  max: 2,
  suspendTimeoutSeconds: 300,
  settings: {},
  disabled: false,
  poolerEnabled: false,
  passwordlessAccess: false,
  state,
  createdAt: START,
  updatedAt: START,
  ...more,
})

test('the usage meter publishes active seconds and compute seconds every 15 minutes', () => {
  let now = START
  const meter = new UsageMeter(() => now)
  meter.note(compute('active', { startedAt: now }))
  now += HOUR
  meter.note(compute('active', { min: 4, max: 4 }))
  now += HOUR
  meter.note(compute('idle'))
  expect(meter.of('br-1')).toEqual({ activeSeconds: 7200, computeSeconds: 3600 * 2 + 3600 * 4 })
  meter.note(compute('active'))
  now += 20 * 60_000
  expect(meter.of('p').activeSeconds).toBe(7200 + 15 * 60)
  meter.forget({ id: 'ep-1' })
  now = monthOf(now).end
  expect(meter.of('p')).toEqual({ activeSeconds: 0, computeSeconds: 0 })
})

/** Two computes for two months: one never scales to zero, the other is used once a day. */
test('the cost estimate for an unchanged compute is within 10% of its metered usage in the next month', async () => {
  const clock = manualClock(START)
  const sandbox = await startSandbox({
    clock,
    background: false,
    seed: {
      projects: [
        {
          id: 'shop',
          branches: [
            { name: 'main', computes: [{ id: 'ep-main', size: { min: 1, max: 4 }, scaleToZero: 'never' }] },
            { name: 'dev', computes: [{ id: 'ep-dev', size: { min: 2, max: 2 }, scaleToZero: '5m', state: 'idle' }] },
          ],
        },
      ],
    },
  })
  const now = { now: () => clock.now(), sleep: async () => undefined }
  const api = createReadApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, rateLimit: false })
  const post = (path: string) =>
    fetch(`${sandbox.apiUrl}${path}`, { method: 'POST', headers: { authorization: `Bearer ${sandbox.apiKey}` } })
  /** Each use keeps the compute active for five minutes. */
  const live = async (days: number): Promise<void> => {
    for (let use = 0; use < days; use += 1) {
      expect((await post('/projects/shop/endpoints/ep-dev/start')).status).toBe(200)
      await clock.advance(24 * HOUR)
    }
  }
  const observe = async (): Promise<Observed> => {
    const seen = await snapshot(api, ['shop'], { clock: now })
    const projects = await Promise.all(
      seen.projects.map(async (project) => ({ ...project, ...(await pastOperations(api, project.id)) })),
    )
    return { ...seen, projects }
  }
  try {
    await live(20)
    const seen = await observe()
    const estimate = costReport(seen).total.cost
    await live(10)
    expect(clock.now()).toBe(Date.UTC(2026, 11, 1))
    await live(30)
    const used = (await observe()).projects[0]?.branches.map(({ usage }) => (usage?.computeSeconds ?? 0) / 3600) ?? []
    const month = used.reduce((sum, hours) => sum + hours, 0)
    expect(month).toBeGreaterThan(700)
    expect(Math.abs((estimate.expected ?? 0) * (30 / 30.4167) - month) / month).toBeLessThan(0.1)
  } finally {
    await api.close()
    await sandbox.close()
  }
})
