import { list, map, mapOr, oneOf, text } from '../../base/index.ts'
import { WEEKDAYS } from '../../model/index.ts'

export const RESTART_WINDOW = mapOr(
  map(
    {
      days: list(oneOf(WEEKDAYS, { $comment: 'E_DAY' }), {
        minItems: 1,
        description: 'The days on which the window opens. Default: every day.',
        examples: [['sat', 'sun']],
        $comment: 'E_DAYS',
      }),
      from: text({
        pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
        description: 'The time at which the window opens, from `"00:00"` to `"23:59"`.',
        examples: ['02:00'],
        $comment: 'E_TIME',
      }),
      to: text({
        pattern: '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
        description:
          'The time at which the window closes, up to `"24:00"`. If it is before `from`, the window closes on the next day.',
        examples: ['04:00', '24:00'],
        $comment: 'E_TIME',
      }),
      timezone: text({
        pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
        description: 'The IANA name of the time zone. Offsets are not valid because they ignore daylight saving time.',
        examples: ['Europe/Berlin', 'UTC'],
        $comment: 'E_TIMEZONE',
      }),
    },
    { required: ['from', 'to', 'timezone'] },
  ),
  oneOf(['always', 'service'], { $comment: 'E_WINDOW' }),
  {
    description:
      'When the compute may be interrupted. Steps that drop connections wait for the window. With `always`, the compute may be interrupted at any time; with `service`, only in the maintenance window of the project.',
    examples: [{ days: ['sun'], from: '02:00', to: '04:00', timezone: 'Europe/Berlin' }, 'service', 'always'],
  },
)
