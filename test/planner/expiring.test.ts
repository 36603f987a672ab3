/** Branches that the service is about to delete, and `restartWindow: service`. */
import { expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import { formatWindow, type MaintenanceWindow, type Observed, type Plan } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { terminalPlan } from '../../src/report/index.ts'
import { branchId, PROJECT, world } from './world.ts'

const LIVE = world({
  main: { primary: { size: 1 } },
  'preview/x': { primary: { size: 1, scaleToZero: 300 } },
  'preview/y': {},
})

/** @param minutes that each branch has left. */
const live = (minutes: Readonly<Record<string, number>>, maintenanceWindow?: MaintenanceWindow): Observed => ({
  ...LIVE,
  projects: LIVE.projects.map((project) => ({
    ...project,
    branches: project.branches.map((branch) => {
      const left = minutes[branch.name]
      return left === undefined
        ? branch
        : { ...branch, expiresAt: new Date(Date.parse(LIVE.takenAt) + left * 60_000).toISOString() }
    }),
    ...(maintenanceWindow === undefined ? {} : { settings: { maintenanceWindow } }),
  })),
})

const planned = (manifest: string, observed: Observed): Plan => {
  const { desired, diagnostics } = parseManifests([
    { path: 'espalier.yaml', text: `version: 1\nproject: ${PROJECT}\n${manifest}` },
  ])
  expect(diagnostics).toEqual([])
  const result = plan(desired, observed)
  if (!result.ok) throw new Error(result.diagnostics.map(({ message }) => message).join())
  return result.plan
}
const codes = ({ warnings }: Plan): readonly string[] => warnings.map(({ code }) => code)

const RESIZE = 'branches: { preview/x: { primary: { size: 2 } } }'
const RELAX = 'branches: { preview/x: { primary: { scaleToZero: 10m } } }'

// promise: expiring-branch
test.each([
  ['planned if it interrupts connections 61 minutes before the expiry', RESIZE, 61, 1, []],
  ['skipped if it interrupts connections 59 minutes before the expiry', RESIZE, 59, 0, ['preview/x expires in 59 min']],
  ['planned if it interrupts no connections 59 minutes before the expiry', RELAX, 59, 1, []],
  [
    'skipped after the expiry even if it interrupts no connections',
    RELAX,
    -1,
    0,
    ['preview/x has expired and is about to be deleted'],
  ],
  ['planned 59 minutes before the expiry with `skipExpiring: 30m`', `skipExpiring: 30m\n${RESIZE}`, 59, 1, []],
  [
    'skipped 61 minutes before the expiry with `skipExpiring: 3h`',
    `skipExpiring: 3h\n${RESIZE}`,
    61,
    0,
    ['preview/x expires in 61 min'],
  ],
  ['planned even after the expiry with `skipExpiring: 0s`', `skipExpiring: 0s\n${RESIZE}`, -1, 1, []],
] as const)('a change on an expiring branch is %s', (_, manifest, minutes, steps, sentences) => {
  const made = planned(manifest, live({ 'preview/x': minutes }))
  expect(made.steps).toHaveLength(steps)
  expect((made.skipped ?? []).map(({ sentence }) => sentence)).toEqual(sentences)
})

test('the plan lists skipped changes and shows the expiry of a branch', () => {
  const skipped = terminalPlan(planned(RESIZE, live({ 'preview/x': 40 })), { color: false, width: 100 })
  expect(skipped).toContain('Skipped: 1 change\n  update primary on preview/x: preview/x expires in 40 min\n')
  expect(skipped).toContain('No changes to apply: 1 change skipped.')
  const shown = terminalPlan(planned(RESIZE, live({ 'preview/x': 600 })), { color: false, width: 100 })
  expect(shown).toContain('expires Thu 1 Jan 10:00 UTC (in 10 h)')
})

test('the changes that run only together with a skipped change are also skipped', () => {
  const pins = `branches:
  preview/x: { primary: absent }
  main: { primary: { size: 1 } }
rules:
  - { match: preview/z, primary: { size: 1 } }`
  expect(planned(pins, live({ 'preview/x': 10 })).steps).toEqual([])
  const swap = `branches:
  preview/y: { primary: { id: ep-${branchId('main')} } }
  main: { primary: { id: ep-${branchId('preview/x')} } }`
  const made = planned(swap, live({ 'preview/y': 10 }))
  expect(made.steps).toEqual([])
  expect((made.skipped ?? []).map(({ kind, sentence }) => `${kind}: ${sentence}`)).toEqual([
    'move: it runs only together with the move of ep-br-main to branch `preview/y`, which is skipped',
    'move: preview/y expires in 10 min',
  ])
  // The primary of `preview/x` would leave, and its successor would be skipped.
  const taken = `branches:
  preview/y: { primary: { id: ep-${branchId('preview/x')} } }
  preview/x: { primary: { id: ep-${branchId('main')} } }`
  const whole = planned(taken, live({ 'preview/x': 10 }))
  expect(whole.steps).toEqual([])
  expect((whole.skipped ?? []).map(({ kind, sentence }) => `${kind}: ${sentence}`)).toEqual([
    'move: preview/x expires in 10 min',
    'move: it runs only together with the move of ep-br-main to branch `preview/x`, which is skipped',
  ])
})

test('a rule with `expires` applies only to branches that expire, or only to those that do not', () => {
  const rules = `rules:
  - { match: "preview/*", expires: false, primary: { size: 2 } }
  - { match: "preview/*", expires: true, primary: { size: 4 } }`
  const made = planned(rules, live({ 'preview/x': 6000 }))
  expect(made.changes.map(({ branch, attributes }) => [branch.name, attributes[0]?.afterText])).toEqual([
    ['preview/x', '4 CU'],
    ['preview/y', '2 CU'],
  ])
})

test('moving a compute to an expiring branch and protecting an expiring branch both cause warnings', () => {
  const seen = live({ 'preview/y': 600 })
  const move = `branches: { preview/y: { protect: true, primary: { id: ep-${branchId('preview/x')} } } }`
  expect(codes(planned(move, seen))).toEqual(['W_EXPIRING', 'W_EXPIRING'])
  expect(codes(planned(move, live({})))).toEqual([])
})

test('`restartWindow: service` is the maintenance window of the project', () => {
  const manifest = 'restartWindow: service\nbranches: { main: { primary: { size: 2 } } }'
  const windows = (observed: Observed) => planned(manifest, observed).steps[0]?.windows?.map(formatWindow)
  expect(windows(live({}, { weekdays: [7], from: '02:00', to: '03:00' }))).toEqual(['Sun 02:00–03:00 UTC'])
  expect(windows(live({}))).toEqual(["the project's maintenance window, which is unknown"])
  const shown = terminalPlan(planned(manifest, live({})), { color: false, width: 200 }, { now: LIVE.takenAt })
  expect(shown).toContain("waits for the project's maintenance window, which is unknown")
})
