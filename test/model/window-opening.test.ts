import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatWindow, type RestartWindow, WEEKDAYS } from '../../src/model/index.ts'
import { closingOf, openingFor, openingOf } from '../../src/model/window-opening.ts'
import { runs } from '../long-runs.ts'

const window = (days: string, from: string, to: string, timezone: string): RestartWindow => ({
  days: WEEKDAYS.filter((day) => days === 'daily' || days.split(' ').includes(day)),
  from,
  to,
  timezone,
})
const SUNDAY_NIGHT = window('sun', '02:00', '04:00', 'Europe/Berlin')
const opening = (one: RestartWindow | readonly RestartWindow[], at: string) =>
  openingOf([one].flat() as RestartWindow[], Date.parse(at))

describe('a window in local time', () => {
  it.each([
    ['before the window', '2026-11-22T00:59:59Z', false],
    ['when the window opens', '2026-11-22T01:00:00Z', true],
    ['in its last minute', '2026-11-22T02:59:59Z', true],
    ['when it closes', '2026-11-22T03:00:00Z', false],
    ['on another day', '2026-11-21T01:30:00Z', false],
  ])('isOpen %s (%s) is %s', (_when, at, isOpen) => {
    expect(opening(SUNDAY_NIGHT, at).isOpen).toBe(isOpen)
  })

  it('openingOf returns when the window opens, in UTC and in its time zone', () => {
    expect(opening(SUNDAY_NIGHT, '2026-11-21T12:00:00Z')).toEqual({
      isOpen: false,
      opensAt: '2026-11-22T01:00:00.000Z',
      opensLocally: 'Sun 2026-11-22 02:00',
    })
    // It has just closed, so it opens again a week later.
    expect(opening(SUNDAY_NIGHT, '2026-11-22T03:00:00Z').opensAt).toBe('2026-11-29T01:00:00.000Z')
  })

  it.each([
    ['in the evening of its day', '2026-11-27T23:00:00Z', true],
    ['in the following night', '2026-11-28T03:59:00Z', true],
    ['in the previous night', '2026-11-27T03:00:00Z', false],
    ['after the window', '2026-11-28T04:00:00Z', false],
  ])('isOpen for a window that spans midnight, %s (%s), is %s', (_when, at, isOpen) => {
    expect(opening(window('fri', '22:00', '04:00', 'UTC'), at).isOpen).toBe(isOpen)
  })

  it('openingOf accepts fractions of a millisecond, which scaled clocks produce', () => {
    expect(openingOf([SUNDAY_NIGHT], Date.parse('2026-11-22T01:00:00Z') - 0.5).isOpen).toBe(false)
    expect(openingOf([SUNDAY_NIGHT], Date.parse('2026-11-22T01:00:00Z') + 0.5).isOpen).toBe(true)
  })

  it('a window may last the whole day', () => {
    const sunday = window('sun', '00:00', '24:00', 'UTC')
    expect(opening(sunday, '2026-11-22T23:59:59Z').isOpen).toBe(true)
    expect(opening(sunday, '2026-11-23T00:00:00Z').isOpen).toBe(false)
  })
})

describe('daylight saving', () => {
  it.each([
    // Berlin, 28 March 2027: 02:00 is followed by 03:00, so the window has one hour.
    ['Berlin, spring, before', SUNDAY_NIGHT, '2027-03-28T00:59:59Z', false],
    ['Berlin, spring, 03:00 is next', SUNDAY_NIGHT, '2027-03-28T01:00:00Z', true],
    ['Berlin, spring, 03:59', SUNDAY_NIGHT, '2027-03-28T01:59:59Z', true],
    ['Berlin, spring, 04:00', SUNDAY_NIGHT, '2027-03-28T02:00:00Z', false],
    // Berlin, 25 October 2026: 02:00 to 03:00 comes twice, so the window has three hours.
    ['Berlin, autumn, 02:00 summer time', SUNDAY_NIGHT, '2026-10-25T00:00:00Z', true],
    ['Berlin, autumn, 02:00 winter time', SUNDAY_NIGHT, '2026-10-25T01:00:00Z', true],
    ['Berlin, autumn, 03:59', SUNDAY_NIGHT, '2026-10-25T02:59:59Z', true],
    ['Berlin, autumn, 04:00', SUNDAY_NIGHT, '2026-10-25T03:00:00Z', false],
    [
      'New York, spring, 03:00 is next',
      window('sun', '02:00', '04:00', 'America/New_York'),
      '2027-03-14T07:00:00Z',
      true,
    ],
    ['New York, spring, 04:00', window('sun', '02:00', '04:00', 'America/New_York'), '2027-03-14T08:00:00Z', false],
    // Lord Howe changes its clocks by half an hour.
    [
      'Lord Howe, spring, 02:30 is next',
      window('sun', '02:00', '03:00', 'Australia/Lord_Howe'),
      '2026-10-03T15:30:00Z',
      true,
    ],
    ['Lord Howe, spring, 03:00', window('sun', '02:00', '03:00', 'Australia/Lord_Howe'), '2026-10-03T16:00:00Z', false],
  ])('isOpen follows the clock change: %s', (_when, one, at, isOpen) => {
    expect(opening(one, at).isOpen).toBe(isOpen)
  })

  it('a window opens at the clock change if the clock jumps into it', () => {
    expect(opening(window('sun', '02:30', '04:00', 'Europe/Berlin'), '2027-03-27T12:00:00Z').opensAt).toBe(
      '2027-03-28T01:00:00.000Z',
    )
  })

  it('a window does not open on a day when the clock change skips all of it', () => {
    expect(opening(window('sun', '02:00', '03:00', 'Europe/Berlin'), '2027-03-27T12:00:00Z').opensAt).toBe(
      '2027-04-04T00:00:00.000Z',
    )
  })
})

describe('an opening of at least', () => {
  it.each([
    [60, 'in the window', '2026-11-22T01:30:00Z', { isOpen: true }],
    [60, 'too late in the window', '2026-11-22T02:30:00Z', '2026-11-29T01:00:00.000Z'],
    [90, 'before a clock change that shortens the window', '2027-03-27T12:00:00Z', '2027-04-04T00:00:00.000Z'],
    [121, 'before a window that is too short', '2026-11-21T12:00:00Z', { isOpen: false }],
  ])('%i minutes, asked for %s (%s), is %j', (minutes, _when, at, expected) => {
    const found = openingFor([SUNDAY_NIGHT], Date.parse(at), minutes * 60_000)
    if (typeof expected === 'string') expect(found).toMatchObject({ isOpen: false, opensAt: expected })
    else expect(found).toEqual(expected)
  })
})

describe('several windows', () => {
  it('several windows count as open only when all of them are open', () => {
    const both = [SUNDAY_NIGHT, window('daily', '02:00', '06:00', 'UTC')]
    expect(opening(both, '2026-11-22T01:30:00Z').isOpen).toBe(false)
    expect(opening(both, '2026-11-22T01:30:00Z').opensAt).toBe('2026-11-22T02:00:00.000Z')
  })

  it('windows in two time zones may overlap only in the weeks between their clock changes', () => {
    const both = [window('sun', '02:00', '03:00', 'Europe/Berlin'), window('sat', '21:00', '22:00', 'America/New_York')]
    expect(opening(both, '2026-11-21T12:00:00Z').opensAt).toBe('2027-03-21T01:00:00.000Z')
  })

  it('windows that never overlap have no opening', () => {
    const both = [SUNDAY_NIGHT, window('mon', '02:00', '04:00', 'Europe/Berlin')]
    expect(opening(both, '2026-11-21T12:00:00Z')).toEqual({ isOpen: false })
  })
})

/** Whether the window is open according to the platform's own time zone data. */
const showsTimeIn = ({ days, from, to, timezone }: RestartWindow, at: number): boolean => {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(at)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
  const today = WEEKDAYS.map(String).indexOf(part('weekday').toLowerCase())
  const now = `${part('hour')}:${part('minute')}`
  const opensOn = (day: number): boolean => days.some((one) => one === WEEKDAYS[(day + 7) % 7])
  return from < to
    ? opensOn(today) && from <= now && now < to
    : (opensOn(today) && from <= now) || (opensOn(today - 1) && now < to)
}

const clock = fc
  .record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.constantFrom(0, 15, 30, 45) })
  .map(({ hour, minute }) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
const anyWindow = fc
  .record({
    days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
    from: clock,
    to: clock,
    timezone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'),
  })
  .filter(({ from, to }) => from !== to)

/** Times around clock changes, and on an ordinary day. */
const anyTime = fc
  .tuple(
    fc.constantFrom(
      '2026-10-24T12:00Z',
      '2027-03-27T12:00Z',
      '2026-10-31T20:00Z',
      '2027-03-13T20:00Z',
      '2026-10-03T03:00Z',
      '2026-07-01T00:00Z',
    ),
    fc.integer({ min: 0, max: 4 * 36 }),
  )
  .map(([start, quarters]) => Date.parse(start) + quarters * 900_000)

describe('for any window and time', () => {
  it('openingOf agrees with the platform’s time zone data', () => {
    fc.assert(
      fc.property(anyWindow, anyTime, (one, at) => {
        const { isOpen, opensAt } = openingOf([one], at)
        expect(isOpen).toBe(showsTimeIn(one, at))
        if (isOpen) return
        let first = at
        // All windows and clock changes in this test start and end at a multiple of 15 minutes.
        while (!showsTimeIn(one, first) && first < at + 15 * 86_400_000) first += 900_000
        expect(opensAt).toBe(new Date(first).toISOString())
      }),
      { numRuns: runs(150) },
    )
  })
})

describe('formatWindow', () => {
  it.each([
    [SUNDAY_NIGHT, 'Sun 02:00–04:00 Europe/Berlin'],
    [window('mon tue wed thu fri', '22:00', '04:00', 'UTC'), 'Mon–Fri 22:00–04:00 UTC'],
    [window('mon wed thu sun', '22:00', '04:00', 'UTC'), 'Mon, Wed, Thu, Sun 22:00–04:00 UTC'],
    [window('daily', '00:00', '24:00', 'UTC'), 'daily 00:00–24:00 UTC'],
  ])('formatWindow formats %o', (one, words) => {
    expect(formatWindow(one)).toBe(words)
  })
})

describe('closing', () => {
  it.each([
    ['on an ordinary day', [SUNDAY_NIGHT], '2026-11-22T01:30:00Z', '2026-11-22T03:00:00.000Z'],
    ['over midnight', [window('fri', '22:00', '04:00', 'UTC')], '2026-11-27T23:00:00Z', '2026-11-28T04:00:00.000Z'],
    [
      'at midnight, with no window on the next day',
      [window('sun', '00:00', '24:00', 'UTC')],
      '2026-11-22T12:00:00Z',
      '2026-11-23T00:00:00.000Z',
    ],
    [
      'that closes first of two',
      [SUNDAY_NIGHT, window('sun', '01:00', '02:00', 'UTC')],
      '2026-11-22T01:30:00Z',
      '2026-11-22T02:00:00.000Z',
    ],
    [
      'if the clock change skips it',
      [window('sun', '01:00', '02:30', 'Europe/Berlin')],
      '2026-03-29T00:30:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
  ])('closingOf returns the end of the window %s', (_when, windows, at, closes) => {
    expect(new Date(closingOf(windows, Date.parse(at))).toISOString()).toBe(closes)
  })
})
