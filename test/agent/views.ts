/** Projects in every state, as an agent shows them. */
import type { DifferenceView, ProjectView } from '../../src/model/index.ts'
import { at, project } from './fake-control.ts'

const difference = (more: Partial<DifferenceView> & Pick<DifferenceView, 'state'>): DifferenceView => ({
  branch: 'main',
  compute: 'primary',
  kind: 'update',
  path: 'autoscaling.maxCu',
  live: '8',
  want: '4',
  impact: 'restart',
  effects: [],
  origin: 'drift',
  declaredAt: 'computes/checkout.yaml:14:13',
  ...more,
})

export const EVERY_STATE: readonly ProjectView[] = [
  project('quiet-fog-31415926', {
    name: 'checkout',
    lastApply: {
      at: at(-900),
      version: '9f8e7d6c5b4a',
      done: ['update primary on main'],
      interruptions: 0,
      effects: [],
    },
  }),
  project('plain-hill-27182818', { name: 'search' }),
  project('blue-lake-16180339', {
    name: 'billing',
    state: 'OutOfSync',
    reason: 'Drift',
    sync: 'OutOfSync',
    differences: [
      difference({
        state: 'OutOfSync',
        reason: 'Drift',
        effects: [
          {
            kind: 'temporary-disk',
            before: 120,
            after: 60,
            when: 'now',
            warns: true,
            text: 'temp disk 120 → 60 GiB',
          },
        ],
      }),
      difference({
        state: 'OutOfSync',
        reason: 'Drift',
        compute: 'replica "reporting"',
        path: 'suspendTimeout',
        live: '5m',
        want: '1h',
        impact: 'none',
      }),
    ],
    command: 'espalier apply computes/billing.yaml --project blue-lake-16180339',
  }),
  project('wild-moon-14142135', {
    name: 'ledger',
    state: 'Blocked',
    reason: 'NotAllowed',
    sync: 'OutOfSync',
    differences: [
      difference({
        state: 'Blocked',
        reason: 'NotAllowed',
        compute: 'replica "old"',
        kind: 'delete',
        live: 'replica "old"',
        want: null,
        impact: 'delete',
        origin: 'introduced',
      }),
    ],
    command: 'espalier apply computes/ledger.yaml --allow delete',
  }),
  project('cold-rain-17320508', {
    state: 'Invalid',
    message: 'computes/preview.yaml:7:9: 3.5 CU is not a valid compute size. The nearest are 3 and 4.',
    sync: 'Unknown',
  }),
  project('soft-wind-22360679', {
    name: 'mail',
    state: 'Failing',
    reason: 'Unreachable',
    message: 'The service answered 503 to GET /projects/soft-wind-22360679/endpoints.',
    until: at(240),
    sync: 'Unknown',
  }),
  project('deep-snow-26457513', {
    name: 'warehouse',
    state: 'Scheduled',
    sync: 'OutOfSync',
    differences: [difference({ state: 'Scheduled', live: '2', origin: 'introduced' })],
    scheduledSteps: 1,
    windowOpensAt: at(3_600),
    until: at(3_600),
    missedWindow: { opensAt: at(-82_800), closesAt: at(-75_600), cause: 'too-little-time' },
    missedWindows: 1,
  }),
  project('kind-star-33166247', {
    name: 'staging',
    state: 'Suspended',
    message: 'the schema migration of the payments team',
    until: at(5_400),
  }),
  project('lone-wolf-36055512', { name: 'sandbox', state: 'Unknown', sync: 'Unknown' }),
  project('calm-sea-57721566', {
    name: 'reports',
    released: [
      {
        kind: 'attribute',
        project: 'calm-sea-57721566',
        branch: { id: 'br-main', name: 'main' },
        compute: { id: 'ep-reports', type: 'read_write', state: 'idle' },
        path: 'disabled',
        live: true,
        liveText: 'true',
        undo: 'disabled: false',
        source: { file: 'computes/reports.yaml', line: 5, column: 9, length: 8 },
      },
    ],
  }),
]
