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

/** Each of these occurs again and again. @param chance of each request. @param changing of each request that changes a compute. */
export const requestFaults = (chance: number, changing: number): readonly FaultOrder[] => {
  const rival = { kind: 'rival-update', endpoint: { suspend_timeout_seconds: 600 } } as const
  return [
    { effect: { kind: 'latency', ms: 2_000, jitterMs: 1_000 } } as const,
    { effect: { kind: 'reset-before' } } as const,
    { effect: { kind: 'reset-after' } } as const,
    { effect: { kind: 'truncate' } } as const,
    { effect: { kind: 'malformed' } } as const,
    { effect: { kind: 'html' } } as const,
    { effect: { kind: 'status', status: 500 } } as const,
    { effect: { kind: 'status', status: 503, retryAfter: 1 } } as const,
    { effect: { kind: 'status', status: 429 } } as const,
    { effect: { kind: 'lock' } } as const,
    { method: 'GET', effect: { kind: 'lag', ms: 5_000 } } as const,
    { method: 'PATCH', effect: { kind: 'ignore' }, chance: changing } as const,
    { method: 'PATCH', effect: rival, chance: changing } as const,
  ].map((fault): FaultOrder => ({ on: 'request', times: 0, chance, ...fault }))
}

/** The same for operations. */
export const operationFaults = (chance: number, slow: number): readonly FaultOrder[] => [
  ...(['fail', 'error', 'cancel', 'skip', 'hang'] as const).map(
    (kind): FaultOrder => ({ on: 'operation', effect: { kind }, times: 0, chance }),
  ),
  { on: 'operation', effect: { kind: 'slow', ms: 20_000 }, times: 0, chance: slow },
]

/** Faults after which a project may take longer to converge: until a retry, or until a person intervenes. */
const LASTING = new Set<string>(['ignore', 'fail', 'error', 'cancel', 'skip', 'hang', 'rival-delete'])

export const faultsOf = (count: number): readonly FaultOrder[] => [
  ...requestFaults(0.004, 0.02),
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
  ...operationFaults(0.01, 0.02),
]

export const isLasting = ({ effect }: FaultOrder): boolean => LASTING.has(effect.kind)
