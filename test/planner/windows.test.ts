/** Which steps wait for which restart windows. */
import { describe, expect, it } from 'vitest'
import { type Desired, formatWindow, type Plan, type RestartWindow } from '../../src/model/index.ts'
import { type DeclaredDocument, desired, planOf, world } from './world.ts'

const on = (day: RestartWindow['days'][number]): RestartWindow => ({
  days: [day],
  from: '02:00',
  to: '04:00',
  timezone: 'UTC',
})
const [SUN, MON] = [on('sun'), on('mon')]

const LIVE = world({
  main: { primary: { size: 1, scaleToZero: 0 }, replicas: [{ name: 'r', size: 1 }] },
  other: { primary: { size: 1 } },
  bare: {},
})

/** The days on which each step may run. */
const daysOf = (plan: Plan): Readonly<Record<string, string>> =>
  Object.fromEntries(
    plan.steps.map(({ kind, branch, compute, windows }) => [
      `${kind} ${branch.name} ${compute.type === 'read_write' ? 'primary' : compute.name}`,
      windows?.map((one) => formatWindow(one).slice(0, 3)).join('+') ?? 'any',
    ]),
  )

describe('restart windows of steps', () => {
  it.each<[string, DeclaredDocument, Readonly<Record<string, string>>]>([
    [
      'a step that interrupts connections has the window of its compute, and other steps have none',
      {
        branches: {
          main: {
            primary: { size: 2, restartWindow: SUN },
            replicas: { r: { size: 1, scaleToZero: 600, restartWindow: SUN }, new: { size: 1, restartWindow: SUN } },
          },
        },
      },
      { 'create main new': 'any', 'update main r': 'any', 'update main primary': 'Sun' },
    ],
    [
      'a compute with `always` restarts at any time even if the document has a window',
      { restartWindow: MON, branches: { main: { primary: { size: 2, restartWindow: 'always' } } } },
      { 'update main primary': 'any' },
    ],
    [
      'a delete of a compute that is pruned or declared absent has the window of the document',
      { restartWindow: MON, prune: true, branches: { main: { primary: { size: 1 } }, other: { primary: 'absent' } } },
      { 'delete main r': 'Mon', 'delete other primary': 'Mon' },
    ],
    [
      'a step has the window of the rule that matches its branch',
      { rules: [{ match: 'o*', primary: { size: 2, restartWindow: SUN } }] },
      { 'update other primary': 'Sun' },
    ],
    [
      'the delete of a replacement has the window, and the create follows at any time',
      { branches: { main: { replicas: { x: { id: 'ep-br-other', size: 1, restartWindow: SUN } } } } },
      { 'delete other primary': 'Sun', 'create main x': 'any' },
    ],
  ])('%s', (_what, declared, days) => {
    expect(daysOf(planOf(declared, LIVE))).toEqual(days)
  })

  it('a move that frees a branch waits for both windows, so that no branch is left without its primary', () => {
    const plan = planOf(
      {
        branches: {
          bare: { primary: { id: 'ep-br-main', restartWindow: MON } },
          main: { primary: { id: 'ep-br-other', restartWindow: SUN } },
        },
      },
      LIVE,
    )
    expect(daysOf(plan)).toEqual({ 'move bare primary': 'Mon+Sun', 'move main primary': 'Sun' })
    expect(plan.changes.map(({ windows }) => windows?.length)).toEqual([2, 1])
  })

  it('all moves of a swap wait for the windows of all its computes', () => {
    const plan = planOf(
      {
        parkOn: 'bare',
        branches: {
          other: { primary: { id: 'ep-br-main', restartWindow: MON } },
          main: { primary: { id: 'ep-br-other' } },
        },
      },
      LIVE,
    )
    expect(plan.steps.map(({ windows }) => windows?.length)).toEqual([1, 1, 1])
  })

  it('a step on an idle compute has a window in case the compute becomes active', () => {
    const idle = world({ main: { primary: { size: 1, state: 'idle' } } })
    const [step] = planOf({ branches: { main: { primary: { size: 2, restartWindow: SUN } } } }, idle).steps
    expect(step).toMatchObject({ impact: 'none', unlessIdle: 'restart', windows: [SUN] })
  })

  it('restarts on one branch and swaps over one parking branch run one after the other', () => {
    const restarts = planOf({ branches: { main: { primary: { size: 2 }, replicas: { r: { size: 2 } } } } }, LIVE)
    const [replica, primary] = restarts.steps
    expect(primary).toMatchObject({ after: [replica?.id], inTurnAfter: [replica?.id] })
    const four = world(
      Object.fromEntries([...'abcd', 'bare'].map((name) => [name, name === 'bare' ? {} : { primary: {} }])),
    )
    const swaps = planOf(
      {
        parkOn: 'bare',
        branches: Object.fromEntries(
          ['ab', 'ba', 'cd', 'dc'].map(([to = '', from = '']) => [to, { primary: { id: `ep-br-${from}` } }]),
        ),
      },
      four,
    )
    expect(swaps.steps.map(({ inTurnAfter }) => inTurnAfter?.length ?? 0)).toEqual([0, 0, 0, 1, 0, 0])
  })

  it('a replaced compute is deleted and created in the same window', () => {
    // ep-br-other, a primary, is pinned as a replica of `main`; the new primary of `other` comes from another branch.
    const plan = planOf(
      {
        branches: {
          bare: { primary: { id: 'ep-br-main' } },
          main: { primary: { id: 'ep-br-main-0', size: 1, restartWindow: SUN } },
        },
      },
      LIVE,
    )
    expect(daysOf(plan)).toEqual({ 'move bare primary': 'Sun', 'delete main r': 'Sun', 'create main primary': 'any' })
  })

  it('the windows of a step are listed in a fixed order', () => {
    const windowsOf = (own: RestartWindow, other: RestartWindow) => {
      const branches = {
        bare: { primary: { id: 'ep-br-main', restartWindow: own } },
        main: { primary: { id: 'ep-br-other', restartWindow: other } },
      }
      return planOf({ branches }, LIVE).steps.map(({ windows = [] }) => windows.map((one) => one.days[0]))
    }
    expect(windowsOf(SUN, MON)).toEqual([['mon', 'sun'], ['mon']])
    expect(windowsOf(MON, SUN)).toEqual([['mon', 'sun'], ['sun']])
  })
})

describe('the restart windows of the base', () => {
  const baseSafeguards = (restartWindow?: RestartWindow): Desired =>
    desired({ branches: { main: { primary: { size: 1, ...(restartWindow === undefined ? {} : { restartWindow }) } } } })
  const head = (restartWindow?: RestartWindow | 'always'): DeclaredDocument => ({
    branches: { main: { primary: { size: 2, ...(restartWindow === undefined ? {} : { restartWindow }) } } },
  })

  it.each<[string, DeclaredDocument]>([
    ['is declared absent', { branches: { main: { primary: 'absent' } } }],
    ['is pruned', { prune: true, branches: { main: { replicas: { r: {} } } } }],
    ['moves to another branch', { branches: { bare: { primary: { id: 'ep-br-main' } } } }],
    ['is managed by a rule instead', { rules: [{ match: 'main', primary: { size: 2 } }] }],
  ])('apply to a compute that %s', (_what, declared) => {
    const plan = planOf(declared, LIVE, { baseSafeguards: baseSafeguards(SUN) })
    expect(Object.values(daysOf(plan))).toEqual(['Sun'])
  })

  it('apply to the branch that another compute moves to', () => {
    const declared = { branches: { bare: { primary: { id: 'ep-br-main' } }, main: { primary: { id: 'ep-br-other' } } } }
    const plan = planOf(declared, LIVE, { baseSafeguards: baseSafeguards(SUN) })
    expect(daysOf(plan)).toEqual({ 'move bare primary': 'Sun', 'move main primary': 'Sun' })
  })

  it.each([
    ['apply when the head removes a window', baseSafeguards(SUN), head('always'), 'Sun'],
    ['apply when the head changes a window', baseSafeguards(SUN), head(MON), 'Sun'],
    ['do not override a window that the head adds', baseSafeguards(), head(MON), 'Mon'],
  ])('%s', (_what, base, declared, day) => {
    const plan = planOf(declared, LIVE, { baseSafeguards: base })
    expect(daysOf(plan)).toEqual({ 'update main primary': day })
  })
})
