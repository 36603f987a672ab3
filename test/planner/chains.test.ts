/** Changes that run only together, because a branch would otherwise lose its declared primary. */
import { describe, expect, test } from 'vitest'
import type { Plan } from '../../src/model/index.ts'
import type { PlanOptions } from '../../src/planner/index.ts'
import { type DeclaredDocument, type LiveBranch, planOf, world } from './world.ts'

const LIVE = world({
  main: { primary: { id: 'ep-a' } },
  dev: { primary: { id: 'ep-b' } },
  test: { primary: { id: 'ep-c' } },
  old: {},
})
/** `ep-a` leaves `main`, `ep-b` follows it to `main`, and `ep-c` to `dev`. */
const CHAIN = { main: { primary: { id: 'ep-b' } }, old: { primary: { id: 'ep-a' } }, dev: { primary: { id: 'ep-c' } } }
const IDS = ['ep-a', 'ep-b', 'ep-c']

const chain = (more: DeclaredDocument['branches'] = {}, options?: PlanOptions): Plan =>
  planOf({ branches: { ...CHAIN, ...more } }, LIVE, options)
const computes = ({ steps }: Plan) => steps.map(({ compute }) => compute.id)

test.each(['main', 'old', 'dev', 'test'])('if a move from or to %s is refused, so is the whole chain', (name) => {
  const { changes, steps, summary } = chain({ [name]: { ...CHAIN[name as keyof typeof CHAIN], protect: true } })
  expect(steps.map(({ compute, refused }) => [compute.id, refused !== undefined])).toEqual(IDS.map((id) => [id, true]))
  expect(summary).toMatchObject({ move: 0, refused: 3 })
  expect(changes.find(({ refused }) => refused?.startsWith('branch'))?.refused).toContain(
    `branch \`${name}\` is protected`,
  )
})

test('a refused change names the change that it runs only together with', () => {
  const { changes } = chain({ test: { protect: true } })
  expect(changes.find(({ compute }) => compute.id === 'ep-a')?.refused).toBe(
    'it runs only together with the move of ep-c to branch `dev`, which is refused (branch `test` is protected (`protect: true` at espalier.yaml:2): nothing on it may be moved)',
  )
})

test('a step that takes a primary away also needs the consents of the steps that must follow it', () => {
  const { steps } = chain({ dev: { primary: { id: 'ep-c', disabled: true, size: 2 } } })
  const following = ['move', 'disconnect', 'restart']
  expect(steps.map(({ consents }) => [...consents].sort())).toEqual(IDS.map(() => following.toSorted()))
})

test('a primary moves away only with the consents for the replacement that follows it', () => {
  const live: Record<string, LiveBranch> = {
    main: { primary: { id: 'ep-a' } },
    old: {},
    dev: { replicas: [{ id: 'ep-r' }] },
  }
  const { steps } = planOf(
    { branches: { main: { primary: { id: 'ep-r' } }, old: { primary: { id: 'ep-a' } } } },
    world(live),
  )
  expect(steps.map(({ kind, consents }) => [kind, consents])).toEqual([
    ['move', ['move', 'replace']],
    ['delete', ['replace']],
    ['create', []],
  ])
})

test('a move that takes no declared primary away is independent of the others', () => {
  const { steps } = planOf({ branches: { dev: { protect: true }, old: { primary: { id: 'ep-a' } }, main: {} } }, LIVE)
  expect(steps.map(({ compute, refused }) => [compute.id, refused])).toEqual([['ep-a', undefined]])
})

describe('a selection', () => {
  const only = (ids: readonly string[], completesChains: boolean): Plan =>
    chain(
      {},
      {
        select: ({ compute }) => ids.includes(compute.id ?? ''),
        completesChains,
        selection: { leftOut: { projects: 0, changes: 0, dependent: 0 } },
      },
    )

  test.each(IDS)('of the move of %s includes the whole chain', (id) => {
    const made = only([id], true)
    expect(computes(made)).toEqual(IDS)
    expect(made.selection).toMatchObject({ leftOut: { changes: 0, dependent: 0 } })
    expect(made.selection?.included).toHaveLength(2)
  })

  test('includes a long chain, whatever the order of its declarations', () => {
    const live = world(
      Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, { primary: { id: `ep-${name}` } }])),
    )
    const entries = ['b', 'c', 'd', 'e', 'f'].map((from, at) => ['abcde'.charAt(at), { primary: { id: `ep-${from}` } }])
    for (const order of ['01234', '02413', '13024', '03142', '40312', '43210']) {
      const branches = Object.fromEntries([...order].flatMap((at) => [entries[Number(at)] ?? []]))
      const made = planOf({ branches, prune: true }, live, {
        select: ({ compute }) => compute.id === 'ep-d',
        completesChains: true,
      })
      expect(computes(made)).toEqual(['ep-a', 'ep-b', 'ep-c', 'ep-d', 'ep-e', 'ep-f'])
    }
  })

  test('of none of its changes includes none', () => {
    const made = only([], true)
    expect(made.steps).toEqual([])
    expect(made.selection).toEqual({ leftOut: { projects: 0, changes: 3, dependent: 0 } })
  })

  test.each(IDS)('that must not include more is left out without the move of %s', (id) => {
    const made = only(
      IDS.filter((other) => other !== id),
      false,
    )
    expect(made.steps).toEqual([])
    expect(made.selection).toEqual({ leftOut: { projects: 0, changes: 3, dependent: 2 } })
  })
})
