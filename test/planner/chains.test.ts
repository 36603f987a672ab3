/** Changes that run only together, because a branch would otherwise lose its declared primary. */
import { expect, test } from 'vitest'
import type { Plan } from '../../src/model/index.ts'
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

const chain = (more: DeclaredDocument['branches'] = {}): Plan => planOf({ branches: { ...CHAIN, ...more } }, LIVE)

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
