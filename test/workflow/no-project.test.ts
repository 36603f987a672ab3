import { expect, test } from 'vitest'
import { createReadApi } from '../../src/api/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { planLive } from '../../src/workflow/index.ts'

const TEXT = 'version: 1\nproject: shop\nbranches: { main: { primary: { size: 2 } } }\n'

test.each([
  [true, 4, 'shop front', []],
  [false, 3, undefined, []],
] as const)(
  'with `readProject: %s`, a plan sends %i requests and the project name is %s',
  async (readProject, requests, name, warnings) => {
    const seed = {
      projects: [
        { id: 'shop', name: 'shop front', branches: [{ name: 'main', computes: [{ id: 'ep-main', size: 1 }] }] },
      ],
    }
    const sandbox = await startSandbox({ seed, background: false })
    const seen: string[] = []
    const api = createReadApi({
      baseUrl: sandbox.apiUrl,
      apiKey: sandbox.apiKey,
      rateLimit: false,
      debug: (line) => seen.push(line),
    })
    try {
      const manifests = {
        loaded: parseManifests([{ path: 'espalier.yaml', text: TEXT }]),
        paths: ['espalier.yaml'],
        review: { readProject },
      }
      const { result, observed } = await planLive(api, manifests)
      expect(seen.filter((line) => line.includes('GET'))).toHaveLength(requests)
      expect(observed.projects[0]?.name).toBe(name)
      expect(result.plan.warnings.map(({ code }) => code)).toEqual(warnings)
      expect(result.plan.steps).toHaveLength(1)
    } finally {
      await api.close()
      await sandbox.close()
    }
  },
)
