/** `espalier cost` against a sandbox in virtual time. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createReadApi } from '../../src/api/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { manualClock, startSandbox } from '../../src/sandbox/index.ts'
import { costLive } from '../../src/workflow/index.ts'
import { startInProcess } from '../in-process.ts'

const SEED = {
  projects: [
    {
      id: 'shop',
      branches: [
        { name: 'main', computes: [{ id: 'ep-main', size: 1, scaleToZero: 'never' }] },
        { name: 'staging', computes: [{ id: 'ep-staging', size: 4, scaleToZero: 'never' }] },
        { name: 'dev', computes: [{ id: 'ep-dev', size: 2, scaleToZero: 'never' }] },
      ],
    },
  ],
}
const MANIFEST = `version: 1
project: shop
defaults: { scaleToZero: never }
branches:
  main: { primary: { size: 1 } }
  staging:
    primary: { size: 4, scaleToZero: never }
`

test('costLive lists the most expensive computes and savings first, and each saving has the manifest line that sets the value', async () => {
  const clock = manualClock(Date.UTC(2026, 10, 1))
  const sandbox = await startSandbox({ clock, background: false, seed: SEED })
  const api = createReadApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, rateLimit: false })
  try {
    await clock.advance(10 * 24 * 3_600_000)
    const loaded = parseManifests([{ path: 'espalier.yaml', text: MANIFEST }])
    const now = { now: () => clock.now(), sleep: async () => undefined }
    const { report } = await costLive(api, ['shop'], { clock: now, manifests: { loaded, paths: ['espalier.yaml'] } })
    expect(report.computes.map(({ compute, cost }) => [compute, cost.expected])).toEqual([
      ['ep-staging', 2920],
      ['ep-dev', 1460],
      ['ep-main', 730],
    ])
    expect(report.advice.map(({ compute, saves, edit }) => [compute, saves, edit])).toMatchObject([
      ['ep-staging', 2920, { before: 'never', after: '5m', source: { line: 7, column: 38 }, others: 0 }],
      ['ep-dev', 1460, { key: 'scaleToZero', before: 'never', after: '5m' }],
    ])
    expect(report.advice[1]?.edit.source).toBeUndefined()
  } finally {
    await api.close()
    await sandbox.close()
  }
})

test('`espalier cost` prints a table, JSON, Markdown or HTML, and shows unknown costs as unknown instead of 0', async () => {
  const sandbox = await startSandbox({ seed: SEED })
  const cwd = await mkdtemp(join(tmpdir(), 'espalier-cost-'))
  const env = { ESPALIER_BASE_URL: sandbox.apiUrl, ESPALIER_API_KEY: sandbox.apiKey }
  const cost = (...args: readonly string[]) => startInProcess(['cost', ...args], { env, cwd }).ended
  try {
    await writeFile(join(cwd, 'espalier.yaml'), MANIFEST)
    const table = await cost()
    expect(table).toMatchObject({ code: 0, stderr: '' })
    expect(table.stdout).toMatch(/^Cost {2}.*CU-hours a month/)
    expect(table.stdout).toContain('BRANCH')
    expect(JSON.parse((await cost('-o', 'json')).stdout)).toMatchObject({ model: '1', computes: [{}, {}, {}] })
    expect((await cost('-o', 'markdown', '--project', 'shop')).stdout).toContain('<summary>Every compute</summary>')
    expect((await cost('--html', 'cost.html')).stdout).toContain('CU-hours a month')
    expect(await readFile(join(cwd, 'cost.html'), 'utf8')).toContain('<html')
    // The manifests of the folder also give prices and lines for the projects that --project selects.
    await writeFile(join(cwd, 'espalier.yaml'), `${MANIFEST}price: { cuHour: 0.5, currency: USD }\n`)
    expect((await cost('--project', 'shop')).stdout).toContain('USD')
    await writeFile(join(cwd, 'espalier.yaml'), 'version: 1\nsize: 3\n')
    expect(await cost('--project', 'shop')).toMatchObject({ code: 0, stderr: '' })
    expect(await cost('--project', 'nowhere')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('It can access '),
    })
  } finally {
    await sandbox.close()
  }
})
