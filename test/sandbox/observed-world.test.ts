import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createReadApi, snapshot } from '../../src/api/index.ts'
import { manualClock, startSandbox, worldOf } from '../../src/sandbox/index.ts'
import { runs } from '../long-runs.ts'
import { liveWorld } from '../planner/arbitraries.ts'
import { PROJECT, world } from '../planner/world.ts'

test('a sandbox loaded from a snapshot shows the same state', async () => {
  const sandbox = await startSandbox({ clock: manualClock(), background: false })
  onTestFinished(() => sandbox.close())
  const api = createReadApi({ baseUrl: sandbox.apiUrl, apiKey: sandbox.apiKey, rateLimit: false })
  onTestFinished(() => api.close())
  await fc.assert(
    fc.asyncProperty(liveWorld, async (branches) => {
      const observed = world(branches)
      sandbox.control.load(worldOf(observed, sandbox.clock.now()))
      const [project] = (await snapshot(api, [PROJECT])).projects
      const [wanted] = observed.projects
      const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)
      expect(project?.branches.map(({ id, name }) => [id, name]).sort()).toEqual(
        wanted?.branches.map(({ id, name }) => [id, name]).sort(),
      )
      const shown = project?.computes.toSorted(byId) ?? []
      for (const [index, compute] of (wanted?.computes.toSorted(byId) ?? []).entries()) {
        expect(shown[index]).toMatchObject({
          id: compute.id,
          branchId: compute.branchId,
          type: compute.type,
          state: compute.state,
          attributes: compute.attributes,
        })
      }
    }),
    { numRuns: runs(30) },
  )
})
