import { expect, test } from 'vitest'
import { createReadApi } from '../../src/api/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { planLive } from '../../src/workflow/index.ts'

const TEXT = 'version: 1\nproject: shop\nbranches: { main: { primary: { size: 2 } } }\n'

// promise: denied-settings
test('if the settings of a project cannot be read, the plan is made without them and says so', async () => {
  const branches = [{ name: 'main', computes: [{ id: 'ep-main', size: 1 }] }]
  const seed = { projects: [{ id: 'shop', name: 'shop front', branches }] }
  const sandbox = await startSandbox({ seed, background: false })
  sandbox.control.addFault({
    on: 'request',
    path: '/projects/shop',
    effect: { kind: 'status', status: 403 },
    times: 0,
  })
  const api = createReadApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, rateLimit: false })
  try {
    const loaded = parseManifests([{ path: 'espalier.yaml', text: TEXT }])
    const { result, observed } = await planLive(api, { loaded, paths: ['espalier.yaml'] })
    expect(observed.projects[0]?.name).toBeUndefined()
    expect(result.plan.warnings.map(({ code }) => code)).toEqual(['W_PROJECT_NOT_READ'])
    expect(result.plan.steps).toHaveLength(1)
  } finally {
    await api.close()
    await sandbox.close()
  }
})
