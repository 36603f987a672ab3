import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ATTRIBUTE_KEYS,
  attributesFromWire,
  attributesToWire,
  type ComputeAttributes,
  differingKeys,
} from '../../src/model/index.ts'

const live: ComputeAttributes = {
  name: 'app',
  size: { min: 1, max: 4 },
  scaleToZero: 0,
  disabled: false,
  poolerEnabled: false,
  poolerMode: 'transaction',
  passwordlessAccess: true,
  postgresSettings: { jit: 'off', work_mem: '4MB' },
  postgresPreload: ['pg_cron'],
}

describe('the comparison of attributes', () => {
  test.each([
    ['an unmanaged attribute', {}, []],
    ['300 seconds instead of 0', { scaleToZero: 300 }, []],
    ['`never` instead of the default', { scaleToZero: -1 }, ['scaleToZero']],
    ['1.0 instead of 1', { size: { min: 1.0, max: 4 } }, []],
    ['a different upper limit', { size: { min: 1, max: 5 } }, ['size']],
    ['an equal setting', { postgresSettings: { jit: 'off' } }, []],
    ['a setting with a different value', { postgresSettings: { jit: 'on' } }, ['postgresSettings']],
    ['an equal list of libraries', { postgresPreload: ['pg_cron'] }, []],
    ['a missing library', { postgresPreload: [] }, ['postgresPreload']],
  ] as const)('%s', (_what, desired, keys) => {
    expect(differingKeys(desired, live)).toEqual(keys)
  })

  test('an attribute that is missing from the response counts as different, except `disabled: false`', () => {
    expect(differingKeys({ size: { min: 1, max: 1 }, poolerEnabled: true, disabled: false }, {})).toEqual([
      'size',
      'poolerEnabled',
    ])
  })
})

describe('the request body', () => {
  test('contains only the limit that differs, or both if no live size is known', () => {
    expect(attributesToWire({ size: { min: 1, max: 8 } }, ['size'], { attributes: live })).toEqual({
      autoscaling_limit_max_cu: 8,
    })
    expect(attributesToWire({ size: { min: 1, max: 8 } }, ['size'])).toEqual({
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 8,
    })
  })

  test('contains all live settings, because the API replaces them', () => {
    const desired = { postgresSettings: { work_mem: '64MB' }, postgresPreload: ['pg_stat_statements'] }
    expect(attributesToWire(desired, ['postgresSettings'], { attributes: live }).settings).toEqual({
      pg_settings: { jit: 'off', work_mem: '64MB' },
      preload_libraries: { enabled_libraries: ['pg_cron'] },
    })
    expect(attributesToWire(desired, ['postgresPreload'], { attributes: live }).settings).toEqual({
      pg_settings: { jit: 'off', work_mem: '4MB' },
      preload_libraries: { enabled_libraries: ['pg_stat_statements'] },
    })
    expect(attributesToWire(desired, ['postgresSettings', 'postgresPreload'], { attributes: live }).settings).toEqual({
      pg_settings: { jit: 'off', work_mem: '64MB' },
      preload_libraries: { enabled_libraries: ['pg_stat_statements'] },
    })
  })

  test.each([undefined, {}, { preload_libraries: { use_defaults: true } }])(
    'always contains `pg_settings` in `settings`, because the service requires it: %j',
    (settings) => {
      const request = attributesToWire({ postgresPreload: ['a'] }, ['postgresPreload'], { attributes: {}, settings })
      expect(request.settings).toEqual({
        pg_settings: {},
        preload_libraries: { ...settings?.preload_libraries, enabled_libraries: ['a'] },
      })
    },
  )

  // promise: unknown-settings
  test('contains undeclared settings unchanged, including unknown keys', () => {
    const settings = {
      pg_settings: { jit: 'off' },
      pgbouncer_settings: { pool_size: 5 },
      preload_libraries: { use_defaults: true, later: [1] },
      unheard_of: { deep: [{ a: 1 }] },
    }
    const shown = { attributes: attributesFromWire({ settings }), settings }
    expect(attributesToWire({ postgresSettings: { work_mem: '8MB' } }, ['postgresSettings'], shown).settings).toEqual({
      ...settings,
      pg_settings: { jit: 'off', work_mem: '8MB' },
    })
    expect(attributesToWire({ postgresPreload: ['pg_cron'] }, ['postgresPreload'], shown).settings).toEqual({
      ...settings,
      preload_libraries: { use_defaults: true, later: [1], enabled_libraries: ['pg_cron'] },
    })
  })

  test('does not depend on the order of the settings', () => {
    const send = (postgresSettings: Record<string, string>) =>
      JSON.stringify(attributesToWire({ postgresSettings }, ['postgresSettings'], { attributes: live }))
    expect(send({ b: '1', a: '2' })).toBe(send({ a: '2', b: '1' }))
  })
})

test('attributes read from a request body equal those that were sent', () => {
  const attributes: fc.Arbitrary<ComputeAttributes> = fc.record(
    {
      name: fc.string({ minLength: 1 }),
      size: fc.constantFrom({ min: 1, max: 1 }, { min: 0.25, max: 8 }),
      scaleToZero: fc.constantFrom(0, -1, 600),
      disabled: fc.boolean(),
      poolerEnabled: fc.boolean(),
      poolerMode: fc.constant('transaction'),
      passwordlessAccess: fc.boolean(),
      postgresSettings: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.string()),
      postgresPreload: fc.uniqueArray(fc.constantFrom('x', 'y')),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(attributes, (desired) => {
      const keys = ATTRIBUTE_KEYS.filter((key) => desired[key] !== undefined)
      expect(differingKeys(desired, attributesFromWire(attributesToWire(desired, keys)))).toEqual([])
    }),
  )
})
