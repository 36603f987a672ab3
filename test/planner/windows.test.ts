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

/** Each step with the days on which it may run. */
const daysOf = (plan: Plan): Readonly<Record<string, string>> =>
  Object.fromEntries(
    plan.steps.map(({ kind, branch, compute, windows }) => [
      `${kind} ${branch.name} ${compute.type === 'read_write' ? 'primary' : compute.name}`,
      windows?.map((one) => formatWindow(one).slice(0, 3)).join('+') ?? 'any',
    ]),
  )

describe('a step that interrupts waits for its window', () => {
  it.each<[string, DeclaredDocument, Readonly<Record<string, string>>]>([
    [
      'that of the compute; what interrupts no one has none',
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
      'computes without one restart at any time, whatever the document says of what it does not declare',
      { restartWindow: MON, branches: { main: { primary: { size: 2, restartWindow: 'always' } } } },
      { 'update main primary': 'any' },
    ],
    [
      'that of the document where what goes is declared nowhere, or absent',
      { restartWindow: MON, prune: true, branches: { main: { primary: { size: 1 } }, other: { primary: 'absent' } } },
      { 'delete main r': 'Mon', 'delete other primary': 'Mon' },
    ],
    [
      'of a rule',
      { rules: [{ match: 'o*', primary: { size: 2, restartWindow: SUN } }] },
      { 'update other primary': 'Sun' },
    ],
    [
      'a replacement: the deletion waits, and what is made after it follows',
      { branches: { main: { replicas: { x: { id: 'ep-br-other', size: 1, restartWindow: SUN } } } } },
      { 'delete other primary': 'Sun', 'create main x': 'any' },
    ],
  ])('%s', (_what, declared, days) => {
    expect(daysOf(planOf(declared, LIVE))).toEqual(days)
  })

  it('what makes room waits for both windows, so that no branch is without its primary in between', () => {
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

  it('a swap waits for the windows of all who take part', () => {
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

  it('an idle compute interrupts no one, and has its window in case that it is active by then', () => {
    const idle = world({ main: { primary: { size: 1, state: 'idle' } } })
    const [step] = planOf({ branches: { main: { primary: { size: 2, restartWindow: SUN } } } }, idle).steps
    expect(step).toMatchObject({ impact: 'none', unlessIdle: 'restart', windows: [SUN] })
  })

  it('restarts of a branch come in turn, and two swaps over one empty branch', () => {
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
    // ep-br-other, a primary, is pinned as main's replica; a new primary of `other` comes from elsewhere.
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
})

describe('the git base', () => {
  const basePolicy = (restartWindow?: RestartWindow): Desired =>
    desired({ branches: { main: { primary: { size: 1, ...(restartWindow === undefined ? {} : { restartWindow }) } } } })
  const head = (restartWindow?: RestartWindow | 'always'): DeclaredDocument => ({
    branches: { main: { primary: { size: 2, ...(restartWindow === undefined ? {} : { restartWindow }) } } },
  })

  it.each<[string, DeclaredDocument]>([
    ['is declared absent', { branches: { main: { primary: 'absent' } } }],
    ['is pruned', { prune: true, branches: { main: { replicas: { r: {} } } } }],
    ['moves to another branch', { branches: { bare: { primary: { id: 'ep-br-main' } } } }],
    ['becomes a rule’s', { rules: [{ match: 'main', primary: { size: 2 } }] }],
  ])('holds for a compute that %s', (_what, declared) => {
    const plan = planOf(declared, LIVE, { basePolicy: basePolicy(SUN) })
    expect(Object.values(daysOf(plan))).toEqual(['Sun'])
    expect(plan.warnings.map(({ code }) => code)).toContain('W_WINDOW_CHANGED')
  })

  it('applies to the branch that another compute moves to', () => {
    const declared = { branches: { bare: { primary: { id: 'ep-br-main' } }, main: { primary: { id: 'ep-br-other' } } } }
    const plan = planOf(declared, LIVE, { basePolicy: basePolicy(SUN) })
    expect(daysOf(plan)).toEqual({ 'move bare primary': 'Sun', 'move main primary': 'Sun' })
  })

  it.each([
    ['a window that is taken out holds until then', basePolicy(SUN), head('always'), 'Sun', ['W_WINDOW_CHANGED']],
    ['a window that is changed holds until then', basePolicy(SUN), head(MON), 'Sun', ['W_WINDOW_CHANGED']],
    ['a window that is new counts', basePolicy(), head(MON), 'Mon', []],
    ['one that stays is not spoken of', basePolicy(SUN), head(SUN), 'Sun', []],
  ])('%s', (_what, base, declared, day, warnings) => {
    const plan = planOf(declared, LIVE, { basePolicy: base })
    expect(daysOf(plan)).toEqual({ 'update main primary': day })
    expect(plan.warnings.map(({ code }) => code)).toEqual(warnings)
  })
})
