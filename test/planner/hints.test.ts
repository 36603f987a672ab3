/** Manifests that do not suit the live project, edited as the hint says. */
import { expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import type { Observed, ObservedBranch } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { PROJECT, world } from './world.ts'

const LIVE = world({
  main: { primary: {}, replicas: [{ name: 'r' }, { name: 'r' }] },
  dev: { primary: {}, replicas: [{ name: 'x' }, { name: 'r' }] },
  old: { primary: {} },
  temporary: {},
  permanent: {},
  free: {},
})

const withBranch = (name: string, change: Partial<ObservedBranch>): Observed => ({
  ...LIVE,
  projects: LIVE.projects.map((project) => ({
    ...project,
    branches: project.branches.map((branch) => (branch.name === name ? { ...branch, ...change } : branch)),
  })),
})
const EXPIRING = withBranch('temporary', { expiresAt: '2026-02-01T00:00:00.000Z' })
const TWINS = withBranch('old', { name: 'dev' })

const planned = (body: string, observed: Observed) => {
  const { desired, diagnostics } = parseManifests([
    { path: 'm.yaml', text: `version: 1\nproject: ${PROJECT}\n${body}\n` },
  ])
  expect(diagnostics).toEqual([])
  const result = plan(desired, observed)
  return result.ok
    ? {
        diagnostics: result.plan.warnings,
        changes: result.plan.changes.map(({ kind, compute, branch }) =>
          [kind, compute.id ?? compute.type, branch.id].join(' '),
        ),
      }
    : { diagnostics: result.diagnostics, changes: [] }
}

const SWAP = 'branches: { main: { primary: { id: ep-br-dev } }, dev: { primary: { id: ep-br-main } } }'
const SWAPPED = ['move ep-br-dev br-main', 'move ep-br-main br-dev']
const WITH_FREE = SWAP.replace('branches: {', 'branches: { free: { primary: {} },')
const ONTO = (branch: string) => `branches: { ${branch}: { primary: { id: ep-br-dev } } }`
const PROTECTED = 'branches: { temporary: { protect: true } }'
const PINNED = (id: string) => `branches: { dev: { primary: { id: ${id}, size: 2 } } }`
const RESIZE = (ref: string) => `branches: { ${ref}: { primary: { size: 2 } } }`

// hint: Correct the pin, or remove it to create a compute.
// hint: Use an unprotected branch that has no primary and for which none is declared.
// hint: Move the content of one entry into the other.
// hint: Use the id of one of them, or rename the others.
// hint: Move it to a branch that does not expire, or remove the branch's expiry.
// hint: Remove the branch's expiry or `protect`.
// hint: Pin the right one with `id:`, or rename one of the two.
// hint: Rename one of the two.
test.each([
  ['Correct the pin', PINNED('ep-gone'), LIVE, PINNED('ep-br-dev'), LIVE, ['update ep-br-dev br-dev']],
  [
    'remove it to create a compute',
    'branches: { free: { primary: { id: ep-gone } } }',
    LIVE,
    'branches: { free: { primary: {} } }',
    LIVE,
    ['create read_write br-free'],
  ],
  [
    'Use an unprotected branch that has no primary',
    `${SWAP}\nparkOn: old`,
    LIVE,
    `${SWAP}\nparkOn: free`,
    LIVE,
    SWAPPED,
  ],
  [
    'for which none is declared',
    `${WITH_FREE}\nparkOn: free`,
    LIVE,
    `${WITH_FREE}\nparkOn: permanent`,
    LIVE,
    ['create read_write br-free', ...SWAPPED],
  ],
  [
    'Use an unprotected branch',
    `${SWAP}\nparkOn: free\nrules: [{ match: free, protect: true }]`,
    LIVE,
    `${SWAP}\nparkOn: permanent\nrules: [{ match: free, protect: true }]`,
    LIVE,
    SWAPPED,
  ],
  [
    'Move the content of one entry into the other',
    'branches: { dev: { primary: { size: 2 } }, br-dev: { replicas: { extra: {} } } }',
    LIVE,
    'branches: { dev: { primary: { size: 2 }, replicas: { extra: {} } } }',
    LIVE,
    ['create read_only br-dev', 'update ep-br-dev br-dev'],
  ],
  ['Use the id of one of them', RESIZE('dev'), TWINS, RESIZE('br-dev'), TWINS, ['update ep-br-dev br-dev']],
  ['rename the others', RESIZE('dev'), TWINS, RESIZE('dev'), LIVE, ['update ep-br-dev br-dev']],
  [
    'Move it to a branch that does not expire',
    ONTO('temporary'),
    EXPIRING,
    ONTO('permanent'),
    EXPIRING,
    ['move ep-br-dev br-permanent'],
  ],
  ["remove the branch's expiry", ONTO('temporary'), EXPIRING, ONTO('temporary'), LIVE, ['move ep-br-dev br-temporary']],
  ["Remove the branch's expiry", PROTECTED, EXPIRING, PROTECTED, LIVE, []],
  ['`protect`', PROTECTED, EXPIRING, 'branches: { temporary: {} }', EXPIRING, []],
  ...['r: {}', 'r: { id: ep-br-main-0 }'].map(
    (replica) =>
      [
        // A pin would not help, because the other one has the name too.
        'Rename one of the two.',
        `branches: { main: { replicas: { ${replica} } } }`,
        LIVE,
        'branches: { main: { replicas: { s: { id: ep-br-main-0 } } } }',
        LIVE,
        ['update ep-br-main-0 br-main'],
      ] as const,
  ),
  [
    'Rename one of the two.',
    'branches: { main: { replicas: { r: {} } } }',
    LIVE,
    'branches: { main: { replicas: { s: { renamedFrom: r } } } }',
    LIVE,
    ['update ep-br-main-0 br-main'],
  ],
  [
    'Pin the right one',
    'branches: { dev: { replicas: { r: { id: ep-br-dev-0 } } } }',
    LIVE,
    'branches: { dev: { replicas: { r: { id: ep-br-dev-1, size: 2 } } } }',
    LIVE,
    ['update ep-br-dev-1 br-dev'],
  ],
] as const)('the edit "%s" is enough, and deletes nothing', (edit, mistake, before, corrected, after, changes) => {
  expect(planned(mistake, before).diagnostics.map(({ hint }) => hint)).toContainEqual(expect.stringContaining(edit))
  const { diagnostics, changes: made } = planned(corrected, after)
  expect(diagnostics.filter(({ severity, hint }) => severity === 'error' || hint?.includes(edit))).toEqual([])
  expect(made.toSorted()).toEqual(changes)
})
