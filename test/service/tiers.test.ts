import { describe, expect, test } from 'vitest'
import { type ComputeSettings, SCALE_TO_ZERO_NEVER, TIERS, tierOf } from '../../src/model/index.ts'
import { checkProject, checkTierCuHours, checkTierReplicas, checkTierSettings } from '../../src/service/index.ts'
import { type DeclaredShape, planOf, world } from '../planner/world.ts'

const tier = (name: string) => {
  const found = tierOf(name)
  if (found === undefined) throw new Error(`no tier ${name}`)
  return found
}
const fixed = (cu: number) => ({ size: { min: cu, max: cu } })
const range = (min: number, max: number) => ({ size: { min, max } })
const codes = (name: string, settings: Partial<ComputeSettings>) =>
  checkTierSettings(settings, tier(name)).map(({ code }) => code)

describe('what the tiers allow', () => {
  test.each([
    ['free', fixed(2), []],
    ['free', fixed(4), ['E_TIER_LIMIT']],
    ['free', range(0.25, 2), []],
    ['free', range(0.25, 4), ['E_TIER_LIMIT']],
    ['free', { scaleToZero: 0 }, []],
    ['free', { scaleToZero: 300 }, []],
    ['free', { scaleToZero: 60 }, ['E_TIER_LIMIT']],
    ['free', { scaleToZero: SCALE_TO_ZERO_NEVER }, ['E_TIER_LIMIT']],
    ['free_v2', fixed(4), ['E_TIER_LIMIT']],
    ['launch', fixed(16), []],
    ['launch_v3', fixed(18), ['W_TIER_LIMIT']],
    ['launch', { scaleToZero: SCALE_TO_ZERO_NEVER }, []],
    ['launch', { scaleToZero: 600 }, ['W_TIER_LIMIT']],
    ['scale', fixed(56), []],
    ['scale', { scaleToZero: 60 }, []],
    ['scale', { ...fixed(4), scaleToZero: 604_800 }, []],
  ] as const)('the tier %s with the settings %j gives the codes %j', (name, settings, expected) => {
    expect(codes(name, settings)).toEqual(expected)
  })

  test('the message names the tier, the limit and the version of the table', () => {
    expect(checkTierSettings(fixed(4), tier('free'))[0]).toMatchObject({
      message: '4 CU is not available on the Free plan (at most 2 CU, table 2026-11).',
      hint: 'Choose a smaller size. If the limit is outdated, set `tier: none` in the manifest to disable the check.',
    })
    expect(checkTierSettings({ scaleToZero: SCALE_TO_ZERO_NEVER }, tier('free'))[0]?.message).toBe(
      '`scaleToZero: never` is not available on the Free plan (5m, table 2026-11).',
    )
  })

  test('limits on replicas and CU-hours only warn', () => {
    expect(checkTierReplicas(3, tier('free'))).toEqual([])
    expect(checkTierReplicas(4, tier('free'))).toMatchObject([
      {
        severity: 'warning',
        code: 'W_TIER_LIMIT',
        // `validate` reports it too, without a plan.
        message: 'The Free plan allows 3 read replicas per project (table 2026-11); the project would have 4.',
      },
    ])
    expect(checkTierReplicas(400, tier('scale'))).toEqual([])
    expect(checkTierCuHours('quiet-river-1', 183, tier('free'))).toMatchObject([
      { severity: 'warning', code: 'W_QUOTA' },
    ])
    expect(checkTierCuHours('quiet-river-1', 99, tier('free'))).toEqual([])
  })

  test.each<[string, DeclaredShape, readonly string[]]>([
    ['a primary becomes a replica', { replicas: { r: { id: 'ep-m' } } }, ['W_TIER_LIMIT']],
    ['a replica becomes the primary of another branch', { replicas: { r: {} } }, []],
  ])('a replacement counts as the replica that it adds or removes: %s', (_name, main, expected) => {
    const replicas = ['ep-1', 'ep-2', 'ep-3'].map((id) => ({ id, name: id }))
    const live = world({ main: { primary: { id: 'ep-m' }, replicas }, dev: {} })
    const dev: DeclaredShape = expected.length > 0 ? {} : { primary: { id: 'ep-1' } }
    const [project] = live.projects
    const found = project && checkProject(project, planOf({ branches: { main, dev } }, live).changes, 'free')
    expect(found?.map(({ code }) => code)).toEqual(expected)
  })

  test.each(['business', 'UNKNOWN', 'scale', 'launch', 'something_v9'])(
    'tierOf recognizes %s only if the table contains it',
    (word) => {
      expect(tierOf(word)?.subscriptions.length ?? 'unknown').toEqual(
        ['scale', 'launch'].includes(word) ? 1 : 'unknown',
      )
    },
  )

  test('each limit in the table names its source', () => {
    for (const { fixedCu, autoscalingCu, scaleToZero, replicas, cuHours } of TIERS) {
      for (const limit of [fixedCu, autoscalingCu, scaleToZero, replicas, cuHours]) {
        if (limit !== undefined) expect(limit.source.length).toBeGreaterThan(10)
      }
    }
  })
})
