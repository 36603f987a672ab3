/** Two people run `apply` at the same time. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { espalier } from '../e2e/espalier.ts'
import { environmentOf } from '../e2e/real-computes.ts'

const NAMES = ['main', 'staging', 'qa']

/** Blocks changes until both applies have read the project. */
const openShop = async (): Promise<Sandbox> => {
  const branches = NAMES.map((name) => ({
    name,
    computes: [{ id: `ep-${name}`, size: 1, scaleToZero: 'never' as const }],
  }))
  let lists = 0
  const sandbox = await startSandbox({
    seed: { projects: [{ id: 'shop', branches }] },
    // As in the service, an operation takes longer than the time between a read and the next request.
    timeScale: 2,
    onRequest: (method, path) => {
      if (method === 'GET' && /\/projects\/shop\/(branches|endpoints)$/.test(path)) lists += 1
      if (lists === 4) sandbox.control.clearFaults()
    },
  })
  sandbox.control.addFault({ on: 'request', method: 'PATCH', effect: { kind: 'lock' }, times: 0 })
  return sandbox
}

// promise: two-applies
test('with two concurrent applies of different sizes, each compute restarts once, and the second apply reports its step as stale', async () => {
  const sandbox = await openShop()
  try {
    const folder = await mkdtemp(join(tmpdir(), 'espalier-two-'))
    const apply = async (size: number) => {
      const file = join(folder, `${size}.yaml`)
      const lines = NAMES.map((name) => `  ${name}: { primary: { size: ${size} } }\n`)
      await writeFile(file, `version: 1\nproject: shop\nbranches:\n${lines.join('')}`)
      return espalier(['apply', file, '--auto-approve'], environmentOf(sandbox), folder)
    }
    const ended = await Promise.all([2, 4].map(apply))
    const said = ended.map(({ stdout }) => stdout)
    const restarted = sandbox.control
      .requests()
      .filter(({ method, status }) => method === 'PATCH' && status < 300)
      .map(({ path }) => path)
    expect(restarted.toSorted(), said.join('')).toEqual(
      NAMES.map((name) => `/projects/shop/endpoints/ep-${name}`).toSorted(),
    )
    for (const name of NAMES) {
      const marks = said.map((text) => new RegExp(`^(done|stale)  update primary on ${name} `, 'm').exec(text)?.[1])
      expect(marks.toSorted(), said.join('')).toEqual(['done', 'stale'])
    }
    expect(ended.map(({ code }) => code)).toContain(3)
    expect(said.join('')).toMatch(/has changed since the plan was made: size 1 CU → [24] CU\./)
  } finally {
    await sandbox.close()
  }
})
