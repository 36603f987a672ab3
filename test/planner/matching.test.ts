/** How declared computes are matched to live ones, and what the plan does not do if the match is ambiguous. */
import { describe, expect, test } from 'vitest'
import type { Observed, ObservedProject } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { type Declared, type DeclaredDocument, desired, errorsOf, type LiveCompute, planOf, world } from './world.ts'

const messageOf = (declared: DeclaredDocument, observed: Observed): string => {
  const result = plan(desired(declared), observed)
  return result.ok ? '' : result.diagnostics.map(({ message, hint }) => `${message} ${hint}`).join('\n')
}

const withProject = (observed: Observed, edit: (project: ObservedProject) => ObservedProject): Observed => ({
  ...observed,
  projects: observed.projects.map(edit),
})

describe('two branches with the same name', () => {
  const observed = (reversed: boolean): Observed =>
    withProject(world({ dev: { primary: { id: 'ep-1' } }, other: { primary: { id: 'ep-2' } } }), (project) => {
      const branches = project.branches.map((branch) => ({ ...branch, name: 'dev' }))
      return { ...project, branches: reversed ? branches.reverse() : branches }
    })

  test.each([true, false])('are reported together in any order (reversed: %s)', (reversed) => {
    const declared: DeclaredDocument = { branches: { dev: { primary: { size: 4 } } } }
    expect(errorsOf(declared, observed(reversed))).toEqual(['E_BRANCH_AMBIGUOUS'])
    expect(messageOf(declared, observed(reversed))).toContain('br-dev, br-other')
  })

  test('can be declared by their ids', () => {
    const declared: DeclaredDocument = { branches: { 'br-other': { primary: { size: 4 } } } }
    expect(planOf(declared, observed(false)).changes.map(({ compute }) => compute.id)).toEqual(['ep-2'])
  })
})

describe('a pin to an unknown compute', () => {
  test.each([true, false])('is reported once without advice to delete anything (prune: %s)', (prune) => {
    const observed = world({ main: { primary: { id: 'ep-1' } } })
    const declared: DeclaredDocument = { prune, branches: { main: { primary: { id: 'ep-nope' } } } }
    expect(errorsOf(declared, observed)).toEqual(['E_PIN_UNKNOWN'])
    expect(messageOf(declared, observed)).not.toMatch(/prune/)
  })
})

describe('two live primaries on one branch', () => {
  const observed = withProject(
    world({ main: { primary: { id: 'ep-a' } }, dev: { primary: { id: 'ep-b' } } }),
    (project) => ({
      ...project,
      computes: project.computes.map((compute) => ({ ...compute, branchId: 'br-main' })),
    }),
  )

  test.each<readonly [string, DeclaredDocument]>([
    ['declared', { branches: { main: { primary: { size: 4 } } } }],
    ['pruned', { prune: true, branches: { main: { primary: {} } } }],
    ['pinned', { prune: true, branches: { main: { primary: { id: 'ep-a' } } } }],
    ['declared absent', { branches: { main: { primary: 'absent' } } }],
  ])('are reported and neither is deleted when the primary is %s', (_how, declared) => {
    expect(errorsOf(declared, observed)).toEqual(['E_TWO_PRIMARIES'])
    expect(messageOf(declared, observed)).toMatch(/2 primaries, but the service allows only one: ep-a, ep-b/)
    expect(messageOf(declared, observed)).not.toMatch(/prune/)
  })

  test('are ignored when no primary is declared, and resolved by a pin to another branch', () => {
    expect(errorsOf({ branches: { main: { replicas: { r: {} } } } }, observed)).toEqual([])
    const moved = planOf(
      { branches: { main: { primary: { id: 'ep-a' } }, dev: { primary: { id: 'ep-b' } } } },
      observed,
    )
    expect(moved.changes.map(({ kind, compute }) => [kind, compute.id])).toEqual([['move', 'ep-b']])
  })
})

describe('unmatched declared and live replicas', () => {
  const HOUR = 3_600

  test('are paired only when the resulting size is valid', () => {
    const observed = world({ dev: { replicas: [{ id: 'ep-q', name: 'q', size: 56, scaleToZero: -1 }] } })
    const made = planOf(
      {
        prune: true,
        branches: { dev: { replicas: { r1: { size: 0.25, scaleToZero: 168 * HOUR }, r2: { scaleToZero: 300 } } } },
      },
      observed,
    )
    expect(made.changes.map(({ kind, id, compute }) => [kind, id.split('/').at(-1), compute.id])).toEqual([
      ['update', 'r1', 'ep-q'],
      ['create', 'r2', undefined],
    ])
  })

  test('stay unpaired when no pair is valid', () => {
    const observed = world({ dev: { replicas: [{ id: 'ep-q', size: 40, scaleToZero: -1 }] } })
    const made = planOf({ branches: { dev: { replicas: { bi: { scaleToZero: 300 } } } } }, observed)
    expect(made.changes.map(({ kind }) => kind)).toEqual(['create'])
    expect(made.unmanaged.map(({ compute }) => compute.id)).toEqual(['ep-q'])
  })

  test('with the same name are matched so that the result is valid', () => {
    const observed = world({
      dev: {
        replicas: [
          { id: 'ep-a', name: 'bi', size: 40, scaleToZero: -1 },
          { id: 'ep-b', name: 'bi', size: 2, scaleToZero: 0 },
        ],
      },
    })
    const made = planOf({ branches: { dev: { replicas: { bi: { scaleToZero: 600 } } } } }, observed)
    expect(made.changes.map(({ compute }) => compute.id)).toEqual(['ep-b'])
  })

  test('are not pruned when they match as well as the chosen one', () => {
    const observed = world({
      dev: {
        replicas: [
          { id: 'ep-1', size: 2 },
          { id: 'ep-2', size: 2 },
        ],
      },
    })
    const made = planOf({ prune: true, branches: { dev: { replicas: { bi: { size: 2 } } } } }, observed)
    const [kept] = made.changes.filter(({ kind }) => kind === 'delete')
    expect(kept).toMatchObject({ compute: { id: 'ep-2' }, refused: expect.stringContaining('as well as ep-1 does') })
    expect(made.steps.filter(({ kind }) => kind === 'delete')).toMatchObject([
      { refused: expect.stringContaining('pin the one to keep') },
    ])
  })

  test('are pruned when they match less well than the chosen one', () => {
    const observed = world({
      dev: {
        replicas: [
          { id: 'ep-1', size: 2 },
          { id: 'ep-2', size: 4 },
        ],
      },
    })
    const made = planOf({ prune: true, branches: { dev: { replicas: { bi: { size: 2 } } } } }, observed)
    expect(made.changes.find(({ kind }) => kind === 'delete')).not.toHaveProperty('refused')
  })
})

describe('a declared replica without a namesake', () => {
  const adoptedFrom = (declared: Declared, ...replicas: readonly LiveCompute[]) => {
    const { changes, warnings } = planOf(
      { branches: { dev: { replicas: { bi: declared } } } },
      world({ dev: { replicas } }),
    )
    return { id: changes.find(({ compute }) => compute.id !== undefined)?.compute.id, warnings }
  }

  test('is matched to the live replica whose change interrupts the least, even if more attributes differ', () => {
    const found = adoptedFrom(
      { size: 1, scaleToZero: 600, settings: { work_mem: '8MB' } },
      { id: 'ep-small', size: 2, scaleToZero: 600, settings: { work_mem: '8MB' } },
      { id: 'ep-same', size: 1, settings: { work_mem: '8MB' } },
    )
    expect(found.id).toBe('ep-same')
  })

  test('is matched to an idle live replica if every match needs a restart, since that restart interrupts no one', () => {
    expect(adoptedFrom({ size: 1 }, { id: 'ep-a', size: 2 }, { id: 'ep-b', size: 2, state: 'idle' }).id).toBe('ep-b')
  })

  test('is matched to an active live replica rather than an idle one if both need the same changes', () => {
    expect(adoptedFrom({ size: 1 }, { id: 'ep-a', size: 1, state: 'idle' }, { id: 'ep-b', size: 1 }).id).toBe('ep-b')
  })

  test('is matched to the live replica with the fewest differing attributes if the impacts are equal', () => {
    const found = adoptedFrom(
      { size: 1, settings: { work_mem: '8MB' } },
      { id: 'ep-a', size: 2 },
      { id: 'ep-b', size: 2, settings: { work_mem: '8MB' } },
    )
    expect(found.id).toBe('ep-b')
  })

  test('causes a warning that says whether the live replica has a name', () => {
    expect(adoptedFrom({ size: 1 }, { id: 'ep-a' }).warnings).toMatchObject([
      { code: 'W_ADOPTED', message: 'Replica `bi` of branch `dev` is matched to ep-a, which has no name.' },
    ])
    const pruned = planOf(
      { prune: true, branches: { dev: { replicas: { bi: {} } } } },
      world({ dev: { replicas: [{ id: 'ep-a', name: 'old' }] } }),
    )
    expect(pruned.warnings).toMatchObject([
      { message: 'Replica `bi` of branch `dev` is matched to ep-a, which is named `old`.' },
    ])
  })
})

test('a delete that is rejected for two reasons reports the protection', () => {
  const twins = world({ dev: { replicas: [{ id: 'ep-1' }, { id: 'ep-2' }] } })
  const made = planOf({ prune: true, branches: { dev: { protect: true, replicas: { bi: {} } } } }, twins)
  expect(made.changes.find(({ kind }) => kind === 'delete')?.refused).toContain('`dev` is protected')
})

describe('`prune` without `prune` in the base', () => {
  const observed = world({ dev: { primary: { id: 'ep-1' }, replicas: [{ id: 'ep-2', name: 'left' }] } })
  const document = (prune: boolean): DeclaredDocument => ({ prune, branches: { dev: { primary: {} } } })

  test.each([
    [
      'is rejected when the base does not prune',
      false,
      expect.stringContaining('the base manifest does not prune branch `dev`'),
    ],
    ['deletes when the base also prunes', true, undefined],
  ])('%s', (_what, prune, refused) => {
    const made = planOf(document(true), observed, { baseSafeguards: desired(document(prune)) })
    const [change] = made.changes
    expect(change).toMatchObject({ kind: 'delete', compute: { id: 'ep-2' } })
    expect(change?.refused).toEqual(refused)
    expect(made.steps.map((step) => step.refused)).toEqual([refused])
  })

  test('is rejected on a branch that the base does not declare', () => {
    const made = planOf(document(true), observed, { baseSafeguards: desired({ branches: {} }) })
    expect(made.steps.map((step) => step.refused)).toEqual([expect.stringContaining('does not prune')])
  })
})
