import { describe, expect, test } from 'vitest'
import { SCALE_TO_ZERO_NEVER, serviceWindow, UNKNOWN_SERVICE_WINDOW, updateDue } from '../../src/model/index.ts'
import { meetingOf, updateRestarts } from '../../src/service/index.ts'
import { compute, hoursAgo, NOW } from '../cost/worlds.ts'

const DUE = Date.parse('2026-11-22T02:00:00Z')

describe('a service update', () => {
  test.each([
    ['2026-11-22T02:00:00Z', DUE],
    ['2026-11-22T02:00', DUE],
    ['2026-11-22T03:00+01:00', DUE],
    ['2026-11-19T02:00:00Z', undefined],
    ['soon', undefined],
    [undefined, undefined],
  ])('an update scheduled for %s is due at %s', (maintenanceScheduledFor, due) => {
    expect(updateDue(maintenanceScheduledFor === undefined ? {} : { maintenanceScheduledFor }, NOW)).toBe(due)
  })

  test.each([
    [
      'never sleeps and has been active for 40 days',
      { state: 'active', startedAt: hoursAgo(24 * 40) },
      SCALE_TO_ZERO_NEVER,
      'yes',
    ],
    ['can sleep and has been active for 40 days', { state: 'active', startedAt: hoursAgo(24 * 40) }, 300, 'maybe'],
    ['has been active for 3 days', { state: 'active', startedAt: hoursAgo(72) }, SCALE_TO_ZERO_NEVER, 'no'],
    ['has been active since an unknown time', { state: 'active' }, SCALE_TO_ZERO_NEVER, 'maybe'],
    ['is idle', { state: 'idle', startedAt: hoursAgo(24 * 40) }, 300, 'no'],
    [
      'is too large to sleep and has been active for 40 days',
      { state: 'active', startedAt: hoursAgo(24 * 40), attributes: { size: { min: 20, max: 20 }, scaleToZero: 300 } },
      300,
      'yes',
    ],
  ] as const)(
    'updateRestarts predicts whether an update restarts a compute that %s',
    (_, more, scaleToZero, expected) => {
      expect(updateRestarts(compute({ scaleToZero }, more), DUE)).toBe(expected)
    },
  )

  test("a restart before the update applies it early, and a restart after it is the compute's second", () => {
    expect(meetingOf(NOW, DUE)).toBe('takes-update')
    expect(meetingOf(DUE, DUE)).toBe('same-time')
    expect(meetingOf(DUE + 1, DUE)).toBe('restarts-twice')
  })
})

test("the project's maintenance window is converted to a restart window in UTC", () => {
  expect(serviceWindow({ weekdays: [7], from: '23:00', to: '00:00' })).toEqual({
    days: ['sun'],
    from: '23:00',
    to: '24:00',
    timezone: 'UTC',
  })
  expect(serviceWindow({ weekdays: [6, 1], from: '02:00', to: '03:00' }).days).toEqual(['mon', 'sat'])
  expect(serviceWindow(undefined)).toEqual(UNKNOWN_SERVICE_WINDOW)
  expect(serviceWindow({ weekdays: [], from: '02:00', to: '03:00' })).toEqual(UNKNOWN_SERVICE_WINDOW)
  expect(serviceWindow({ weekdays: [1], from: '2', to: '03:00' })).toEqual(UNKNOWN_SERVICE_WINDOW)
})
