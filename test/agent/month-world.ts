/** The simulated month's projects, manifests, windows and faults. */
import type { FaultOrder, Seed } from '../../src/sandbox/index.ts'

export const SIZES = [0.5, 1, 2, 4]
export const WINDOW_HOURS = 2

export const projectId = (index: number): string => `month-${String(index).padStart(8, '0')}`
export const indexOf = (path: string): number => Number(/month-(\d+)/.exec(path)?.[1] ?? Number.NaN)
export const computeId = (index: number): string => `ep-${projectId(index)}`
export const branchId = (index: number): string => `br-${projectId(index)}`

/** Two of three projects have a nightly window, each at its own hour. */
export const hourOf = (index: number): number | undefined => (index % 3 === 2 ? undefined : (index * 5) % 22)
/** In every fiftieth project, the compute is deleted manually once. */
export const isVictim = (index: number): boolean => index % 50 === 7
/** In every fiftieth project, the primaries of two branches change places from time to time. */
export const isSwapper = (index: number): boolean => index % 50 === 2
export const SWAPPED = ['one', 'two'] as const
export const PREVIEW_SIZE = 0.25
const two = (hour: number): string => String(hour).padStart(2, '0')

export const manifestOf = (index: number, size: number, isSwapped = false): string => {
  const hour = hourOf(index)
  const window =
    hour === undefined
      ? ''
      : `restartWindow: { days: [mon, tue, wed, thu, fri, sat, sun], from: "${two(hour)}:00", to: "${two(hour + WINDOW_HOURS)}:00", timezone: UTC }\n`
  const swapped = SWAPPED.map((name) => {
    const other = SWAPPED.find((one) => one !== name)
    const from = isSwapped ? other : name
    return `  ${name}: { primary: { id: ${computeId(index)}-${from}, scaleToZero: never } }\n`
  })
  const preview = `rules: [{ match: "preview/*", primary: { size: ${PREVIEW_SIZE}, scaleToZero: never } }]\n`
  return `version: 1
project: ${projectId(index)}
${isSwapper(index) ? 'parkOn: park\n' : ''}${window}${preview}branches:
  main: { primary: { size: ${size}, scaleToZero: never } }
${isSwapper(index) ? swapped.join('') : ''}`
}

export const seedOf = (count: number): Seed => ({
  projects: Array.from({ length: count }, (_, index) => ({
    id: projectId(index),
    branches: [
      {
        id: branchId(index),
        name: 'main',
        computes: [{ id: computeId(index), size: 1, scaleToZero: 'never' as const }],
      },
      ...(isSwapper(index)
        ? [
            ...SWAPPED.map((name) => ({
              id: `${branchId(index)}-${name}`,
              name,
              computes: [{ id: `${computeId(index)}-${name}`, size: 1, scaleToZero: 'never' as const }],
            })),
            { id: `${branchId(index)}-park`, name: 'park', computes: [] },
          ]
        : []),
    ],
  })),
})

const endless = { times: 0, chance: 0.004 } as const
/** Faults after which a project may take longer to converge: until a retry, or until a person intervenes. */
const LASTING = new Set<string>(['ignore', 'fail', 'error', 'cancel', 'skip', 'hang', 'rival-delete'])

export const faultsOf = (count: number): readonly FaultOrder[] => [
  { on: 'request', effect: { kind: 'latency', ms: 2_000, jitterMs: 1_000 }, ...endless },
  { on: 'request', effect: { kind: 'reset-before' }, ...endless },
  { on: 'request', effect: { kind: 'reset-after' }, ...endless },
  { on: 'request', effect: { kind: 'truncate' }, ...endless },
  { on: 'request', effect: { kind: 'malformed' }, ...endless },
  { on: 'request', effect: { kind: 'html' }, ...endless },
  { on: 'request', effect: { kind: 'status', status: 500 }, ...endless },
  { on: 'request', effect: { kind: 'status', status: 503, retryAfter: 1 }, ...endless },
  { on: 'request', effect: { kind: 'status', status: 429 }, ...endless },
  { on: 'request', effect: { kind: 'lock' }, ...endless },
  { on: 'request', method: 'GET', effect: { kind: 'lag', ms: 5_000 }, ...endless },
  { on: 'request', method: 'PATCH', effect: { kind: 'ignore' }, times: 0, chance: 0.02 },
  {
    on: 'request',
    method: 'PATCH',
    effect: { kind: 'rival-update', endpoint: { suspend_timeout_seconds: 600 } },
    times: 0,
    chance: 0.02,
  },
  ...Array.from({ length: count }, (_, index) => index).flatMap((index): FaultOrder[] =>
    isVictim(index)
      ? [
          {
            on: 'request',
            path: `/projects/${projectId(index)}/endpoints`,
            effect: { kind: 'rival-delete', endpoint_id: computeId(index) },
            after: 5,
          },
        ]
      : index % 50 === 3
        ? [
            {
              on: 'request',
              path: `/projects/${projectId(index)}/endpoints`,
              effect: {
                kind: 'rival-create',
                endpoint: { branch_id: branchId(index), type: 'read_only', name: 'rival' },
              },
              after: 5,
            },
          ]
        : [],
  ),
  ...(['fail', 'error', 'cancel', 'skip', 'hang'] as const).map(
    (kind): FaultOrder => ({ on: 'operation', effect: { kind }, times: 0, chance: 0.01 }),
  ),
  { on: 'operation', effect: { kind: 'slow', ms: 20_000 }, times: 0, chance: 0.02 },
]

export const isLasting = ({ effect }: FaultOrder): boolean => LASTING.has(effect.kind)
