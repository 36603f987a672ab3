/** `createBranch` of the package, on a simulated sandbox with a manual clock. */
import { expect, test } from 'vitest'
import { openSandbox, P } from './open-sandbox.ts'

test.each([
  [undefined, 'The sandbox has 2 projects: choose one with the option `project`.'],
  [{ projects: [] }, 'The sandbox has no project, so a branch cannot be created.'],
])('without the option `project`, createBranch on the seed %j fails with: %s', async (seed, message) => {
  const { sandbox } = await openSandbox(seed && { seed })
  await expect(sandbox.control.createBranch({})).rejects.toMatchObject({ code: 'E_USAGE', message })
})

test.each([
  ['error', 'the operation start_compute ended as error: injected fault.'],
  ['cancel', 'the operation start_compute ended as cancelled.'],
] as const)('if an operation ends with %s, the message ends with: %s', async (kind, end) => {
  const { sandbox } = await openSandbox({ durations: { create_timeline: 0, create_branch: 0, start_compute: 0 } })
  sandbox.control.addFault({ on: 'operation', action: 'start_compute', effect: { kind } })
  const message = `The branch cannot be created or deleted: ${end}`
  await expect(sandbox.control.createBranch({ project: P.split('/').at(-1) ?? '' })).rejects.toMatchObject({ message })
})
