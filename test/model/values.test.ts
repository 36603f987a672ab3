import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  cacheGb,
  formatDuration,
  formatScaleToZero,
  formatSize,
  isIdle,
  maxConnections,
  nearestStep,
  type ObservedCompute,
  parseDuration,
  SIZE_TABLE,
  SIZES_IN_WORDS,
  sameScaleToZero,
  sizeStep,
  worstImpact,
} from '../../src/model/index.ts'

describe('sizes', () => {
  test('the built-in table contains the sizes of the public API reference', () => {
    const sizes = SIZE_TABLE.steps.map(({ cu }) => cu)
    expect(sizes).toHaveLength(2 + 16 + 20)
    expect(sizes.slice(0, 4)).toEqual([0.25, 0.5, 1, 2])
    expect(sizes.slice(-2)).toEqual([54, 56])
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b))
    expect(sizeStep(17)).toBeUndefined()
  })

  test.each([
    [0.25, 1, 0.75, 104],
    [0.5, 2, 1.5, 209],
    [1, 4, 3, 419],
    [8, 32, 24, 3357],
    [9, 36, 27, 4000],
    [16, 64, 48, 4000],
    [56, 224, 168, 4000],
  ])('%s CU has %s GB, a cache of %s GB and %s connections', (cu, ram, cache, connections) => {
    expect(sizeStep(cu)).toEqual({ cu, ramGb: ram, cacheGb: cache, maxConnections: connections })
    expect(cacheGb(cu)).toBe(cache)
    expect(maxConnections({ min: cu, max: cu })).toBe(connections)
  })

  test.each([
    [{ min: 0.25, max: 8 }, 839],
    [{ min: 1, max: 8 }, 3357],
    [{ min: 0.5, max: 2 }, 839],
    [{ min: 8, max: 16 }, 4000],
  ])('the connection limit of %o depends on both autoscaling limits: %s', (size, connections) => {
    expect(maxConnections(size)).toBe(connections)
  })

  test.each([
    [3.5, 3],
    [17, 16],
    [0, 0.25],
    [1_000, 56],
  ])('the step nearest to %s CU is %s CU', (cu, step) => {
    expect(nearestStep(cu)?.cu).toBe(step)
  })

  test('a range is formatted as 1–8 CU and a fixed size as 2 CU', () => {
    expect([formatSize({ min: 1, max: 8 }), formatSize({ min: 2, max: 2 })]).toEqual(['1–8 CU', '2 CU'])
  })
})

test('the sizes in words are those of the table', () => {
  const sizes = SIZES_IN_WORDS.split(/, | and /).flatMap((part) => {
    const [, kind, from = 0, to = 0] = /^(whole|even) numbers from (\d+) to (\d+)$/.exec(part) ?? []
    if (kind === undefined) return [Number(part)]
    const by = kind === 'even' ? 2 : 1
    return Array.from({ length: (Number(to) - Number(from)) / by + 1 }, (_, index) => Number(from) + index * by)
  })
  expect(sizes).toEqual(SIZE_TABLE.steps.map(({ cu }) => cu))
})

describe('durations', () => {
  test.each([
    ['90s', 90],
    ['5m', 300],
    ['1h30m', 5_400],
    ['7d', 604_800],
    ['0s', 0],
  ])('%s is %s seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds)
  })

  test.each(['', '5', 'm', '5 m', '30m1h', '1h1h', '-5m', '1.5h', '5M', '5m ', '99999999s'])(
    '`%s` is not a valid duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined()
    },
  )

  test('a formatted duration is parsed to the same value', () => {
    fc.assert(
      fc.property(fc.nat({ max: 700_000 }), (seconds) => {
        expect(parseDuration(formatDuration(seconds))).toBe(seconds)
      }),
    )
  })
})

test('scale to zero of 0 equals the default of 300 seconds and differs from `never`', () => {
  expect([0, 300, -1, 5_400].map(formatScaleToZero)).toEqual(['default (5m)', '5m', 'never', '1h30m'])
  expect(sameScaleToZero(0, 300)).toBe(true)
  expect(sameScaleToZero(0, -1)).toBe(false)
})

test('worstImpact returns the most severe impact, or `none` if there are no impacts', () => {
  expect(worstImpact([])).toBe('none')
  expect(worstImpact(['restart', 'may-restart', 'none'])).toBe('restart')
  expect(worstImpact(['move', 'delete', 'replace'])).toBe('delete')
})

test.each([
  [{ state: 'idle' }, true],
  [{ state: 'idle', pendingState: 'idle' }, true],
  [{ state: 'idle', pendingState: 'active' }, false],
  [{ state: 'active' }, false],
  [{ state: 'init' }, false],
  [{ state: 'a state of next year' }, false],
])('isIdle for a compute with %o is %s', (state, idle) => {
  const compute: ObservedCompute = {
    id: 'ep-1',
    branchId: 'br-1',
    type: 'read_write',
    host: 'ep-1.test',
    attributes: {},
    ...state,
  }
  expect(isIdle(compute)).toBe(idle)
})
