import { describe, expect, test } from 'vitest'
import type { Observed } from '../../src/model/index.ts'
import { plan, projectIds } from '../../src/planner/index.ts'
import { branchId, type DeclaredDocument, desired, type LiveBranch, PROJECT, planOf, world } from './world.ts'

describe('requests', () => {
  test('a move with other changes is one request and requires both consents', () => {
    const plan = planOf(
      { branches: { old: { primary: { id: 'ep-app', size: 2, scaleToZero: -1 } }, main: { primary: 'absent' } } },
      world({ main: { primary: { id: 'ep-app' } }, old: {} }),
    )
    expect(plan.steps).toMatchObject([
      {
        kind: 'move',
        impact: 'move',
        consents: ['move', 'restart'],
        actions: ['apply_config'],
        request: {
          method: 'PATCH',
          path: `/projects/${PROJECT}/endpoints/ep-app`,
          body: {
            endpoint: {
              branch_id: branchId('old'),
              autoscaling_limit_min_cu: 2,
              autoscaling_limit_max_cu: 2,
              suspend_timeout_seconds: -1,
            },
          },
        },
      },
    ])
    expect(plan.changes[0]?.reasons).toEqual(['PIN_ELSEWHERE', 'VALUE_DIFFERS'])
  })

  test('moving or deleting an idle compute requires consent even though no one is connected', () => {
    const plan = planOf(
      { branches: { old: { primary: { id: 'ep-app', size: 2 } }, main: {} }, prune: true },
      world({ main: { primary: { id: 'ep-app', state: 'idle' }, replicas: [{ state: 'idle' }] }, old: {} }),
    )
    expect(plan.steps.map(({ kind, consents, actions }) => [kind, consents, actions])).toEqual([
      ['move', ['move'], ['apply_config']],
      ['delete', ['delete'], []],
    ])
  })

  test('a change to an attribute other than the size does not change the capacity', () => {
    const { changes, summary } = planOf(
      { branches: { main: { primary: { scaleToZero: 600 } } } },
      world({ main: { primary: { size: 2 } } }),
    )
    expect(changes[0]?.after).toEqual(changes[0]?.before)
    expect(summary.capacity.after).toEqual(summary.capacity.before)
  })

  test('a create request contains every managed attribute, including those with default values', () => {
    const plan = planOf(
      { branches: { main: { primary: { disabled: false, preload: [], settings: {}, size: { min: 1, max: 2 } } } } },
      world({ main: {} }),
    )
    expect(plan.steps[0]?.request.body?.endpoint).toEqual({
      branch_id: branchId('main'),
      type: 'read_write',
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 2,
      disabled: false,
      settings: { pg_settings: {}, preload_libraries: { enabled_libraries: [] } },
    })
  })

  test('a step cites the documentation for its impact, even for an idle compute', () => {
    for (const state of ['active', 'idle'] as const) {
      const plan = planOf(
        { branches: { main: { primary: { name: 'app', size: 2 } } } },
        world({ main: { primary: { state } } }),
      )
      expect(plan.steps[0]?.rule).toContain('API reference')
    }
  })
})

describe('order', () => {
  test('restarts on one branch run in sequence with replicas first, and restarts on another branch do not wait for them', () => {
    const plan = planOf(
      {
        branches: {
          main: { primary: { size: 2 }, replicas: { a: { size: 2 }, b: { settings: { work_mem: '64MB' } } } },
          other: { primary: { size: 2 } },
        },
      },
      world({
        main: { primary: {}, replicas: [{ name: 'a' }, { name: 'b' }] },
        other: { primary: {} },
      }),
    )
    const titles = new Map(
      plan.steps.map(({ id, branch, compute }) => [id, `${branch.name} ${compute.name ?? 'primary'}`]),
    )
    expect(plan.steps.map(({ id, after }) => [titles.get(id), after.map((other) => titles.get(other))])).toEqual([
      ['main b', []],
      ['main a', ['main b']],
      ['main primary', ['main a']],
      ['other primary', []],
    ])
  })

  test('an update to an idle compute does not wait for restarts', () => {
    const plan = planOf(
      { branches: { main: { primary: { size: 2 }, replicas: { a: { size: 2 } } } } },
      world({ main: { primary: {}, replicas: [{ name: 'a', state: 'idle' }] } }),
    )
    expect(plan.steps.map(({ after }) => after)).toEqual([[], []])
  })
})

describe('protection', () => {
  const pinned: DeclaredDocument = { branches: { main: { replicas: { reporting: { id: 'ep-app' } } } } }

  test('service protection allows a replacement to be created on a branch but not to be deleted from it', () => {
    const refusals = (branches: Record<string, LiveBranch>) =>
      planOf(pinned, world(branches)).steps.map(({ refused }) => refused !== undefined)
    expect(refusals({ main: { protected: true }, other: { primary: { id: 'ep-app' } } })).toEqual([false, false])
    expect(refusals({ main: {}, other: { protected: true, primary: { id: 'ep-app' } } })).toEqual([true, true])
  })

  test('service protection allows moves, and `protect: true` rejects moves from and to the branch', () => {
    const live = world({ a: { primary: { id: 'ep-1' }, protected: true }, b: {} })
    const moved = (protect: { a?: boolean; b?: boolean }) =>
      planOf(
        {
          branches: {
            a: { primary: 'absent', protect: protect.a ?? false },
            b: { primary: { id: 'ep-1' }, protect: protect.b ?? false },
          },
        },
        live,
      ).steps[0]?.refused
    expect(moved({})).toBeUndefined()
    expect(moved({ a: true })).toContain('`a` is protected')
    expect(moved({ b: true })).toContain('`b` is protected')
  })

  test('a branch that a rule in the base protects cannot be used for parking', () => {
    const swap = { branches: { a: { primary: { id: 'ep-2' } }, b: { primary: { id: 'ep-1' } } }, parkOn: 'spare/1' }
    const result = plan(
      desired(swap),
      world({ a: { primary: { id: 'ep-1' } }, b: { primary: { id: 'ep-2' } }, 'spare/1': {} }),
      { baseSafeguards: desired({ rules: [{ match: 'spare/*', protect: true }] }) },
    )
    expect(result.ok ? [] : result.diagnostics.map(({ code }) => code)).toContain('E_PARK_ON')
  })
})

describe('warnings', () => {
  test('a rule is reported as shadowed when earlier rules match all its branches', () => {
    const plan = planOf(
      {
        rules: [
          { match: '**', primary: {} },
          { match: 'preview/*', primary: {} },
        ],
      },
      world({ 'preview/1': { primary: {} } }),
    )
    expect(plan.warnings.map(({ code }) => code)).toEqual(['W_RULE_SHADOWED'])
  })

  test('a rule is reported as unused when all its branches are listed explicitly', () => {
    const plan = planOf(
      { branches: { 'preview/1': {} }, rules: [{ match: 'preview/*', primary: {} }] },
      world({ 'preview/1': {} }),
    )
    expect(plan.warnings.map(({ code }) => code)).toEqual(['W_RULE_UNUSED'])
  })
})

describe('names', () => {
  test.each([
    ['an unmanaged replica', world({ main: { replicas: [{ name: 'a' }, { name: 'a' }] } }), /unmanaged compute/],
    [
      'the primary, whose name is not declared',
      world({ main: { primary: { name: 'a' }, replicas: [{ name: 'a' }] } }),
      /not declared/,
    ],
  ])('a declared name that %s also has causes a warning', (_who, live, message) => {
    const plan = planOf({ branches: { main: { primary: {}, replicas: { a: {} } } } }, live)
    expect(plan.warnings).toMatchObject([{ code: 'W_NAME_TAKEN', message: expect.stringMatching(message) }])
  })
})

describe('hints', () => {
  test('the suggested branch name does not depend on the order of the branches', () => {
    const hints = [
      ['man', 'min'],
      ['min', 'man'],
    ].map((names) => {
      const result = plan(
        desired({ branches: { mxn: {} } }),
        world(Object.fromEntries(names.map((name) => [name, {}]))),
      )
      return result.ok ? undefined : result.diagnostics[0]?.hint
    })
    expect(hints[0]).toContain('`man`')
    expect(hints[1]).toBe(hints[0])
  })
})

test('many nameless replicas are paired with declarations by size', () => {
  const sizes = Array.from({ length: 300 }, (_, index) => (index % 3) + 1)
  const plan = planOf(
    { branches: { main: { replicas: Object.fromEntries(sizes.map((size, index) => [`r${index}`, { size }])) } } },
    world({ main: { replicas: sizes.map((_, index) => ({ size: ((index + 1) % 3) + 1 })) } }),
  )
  expect(plan.summary).toMatchObject({ restarts: 0, create: 0, update: 300 })
})

test('rules from several documents are matched in the order of their files', () => {
  const [first, second] = [0.5, 2].map((size, index) => {
    const [own] = desired({ rules: [{ match: '**', primary: { size } }] }).documents
    return own === undefined ? [] : [{ ...own, source: { ...own.source, file: `${index}.yaml` } }]
  })
  const result = plan({ documents: [...(second ?? []), ...(first ?? [])] }, world({ main: { primary: {} } }))
  expect(result.plan.changes.map(({ after }) => after?.size.max)).toEqual([0.5])
})

test('several projects are planned independently in sorted order, and an unknown project is reported with the nearest id', () => {
  const one = world({ main: { primary: {} } })
  const observed: Observed = {
    ...one,
    projects: [...one.projects, ...one.projects.map((p) => ({ ...p, id: 'calm-sea-2' }))],
  }
  const both = desired(
    { branches: { main: { primary: { size: 2 } } } },
    { project: 'calm-sea-2', branches: { main: { primary: { size: 4 } } } },
  )
  expect(projectIds(both)).toEqual(['calm-sea-2', PROJECT])
  const result = plan(both, observed)
  expect(result.ok && result.plan.steps.map(({ project, after }) => [project, after])).toEqual([
    ['calm-sea-2', []],
    [PROJECT, []],
  ])
  const unknown = plan(desired({ project: 'calm-see-2' }), { ...observed, missing: ['calm-see-2'] })
  expect(unknown.ok ? [] : unknown.diagnostics).toMatchObject([
    { code: 'E_PROJECT_UNKNOWN', hint: expect.stringContaining('calm-sea-2'), source: { line: 1 } },
  ])
})

test('a plan without manifests deletes nothing', () => {
  const result = plan({ documents: [] }, world({ main: { primary: {} } }))
  expect(result.ok && result.plan).toMatchObject({ projects: [], steps: [], changes: [], unmanaged: [] })
})
