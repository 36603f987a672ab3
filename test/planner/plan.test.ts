import { describe, expect, test } from 'vitest'
import { SCALE_TO_ZERO_NEVER } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { branchId, desired, errorsOf, PROJECT, planOf, world } from './world.ts'

describe('changes', () => {
  test('no step is planned when nothing differs', () => {
    const plan = planOf(
      { branches: { main: { primary: { size: 1, scaleToZero: 300 } } } },
      world({ main: { primary: {} } }),
    )
    expect(plan.steps).toEqual([])
    expect(plan.summary).toMatchObject({ create: 0, update: 0, delete: 0, managed: 1 })
  })

  test('a missing compute is created without interrupting connections', () => {
    const plan = planOf(
      { branches: { main: { replicas: { reporting: { size: 2 } } } } },
      world({ main: { primary: {} } }),
    )
    expect(plan.steps).toMatchObject([
      {
        kind: 'create',
        impact: 'none',
        consents: [],
        reason: 'NOT_OBSERVED',
        request: {
          method: 'POST',
          path: `/projects/${PROJECT}/endpoints`,
          body: {
            endpoint: {
              branch_id: branchId('main'),
              type: 'read_only',
              name: 'reporting',
              autoscaling_limit_min_cu: 2,
              autoscaling_limit_max_cu: 2,
            },
          },
        },
      },
    ])
  })

  test('a request contains only the attributes that differ', () => {
    const plan = planOf(
      { branches: { main: { primary: { size: { min: 1, max: 4 }, scaleToZero: 0 } } } },
      world({ main: { primary: { size: 1 } } }),
    )
    expect(plan.steps.map(({ request }) => request.body)).toEqual([{ endpoint: { autoscaling_limit_max_cu: 4 } }])
  })

  test('several changes to one compute require only one request and one restart', () => {
    const plan = planOf(
      {
        branches: {
          main: { primary: { size: 2, scaleToZero: 600, settings: { work_mem: '64MB' }, preload: ['pg_cron'] } },
        },
      },
      world({ main: { primary: { size: 1, settings: { jit: 'off' } } } }),
    )
    expect(plan.steps).toHaveLength(1)
    expect(plan.steps[0]?.request.body?.endpoint.settings).toEqual({
      pg_settings: { work_mem: '64MB' },
      preload_libraries: { enabled_libraries: ['pg_cron'] },
    })
    expect(plan.summary.restarts).toBe(1)
  })

  test('resizing an idle compute interrupts no connections', () => {
    const plan = planOf(
      { branches: { main: { primary: { size: 2 } } } },
      world({ main: { primary: { size: 1, state: 'idle' } } }),
    )
    expect(plan.steps).toMatchObject([
      { kind: 'update', impact: 'none', unlessIdle: 'restart', consents: [], reason: 'VALUE_DIFFERS' },
    ])
    expect(plan.summary.restarts).toBe(0)
  })

  test.each([
    ['size', { size: 2 }, 'restart', ['restart']],
    ['scale to zero', { scaleToZero: 600 }, 'none', []],
    ['name', { name: 'other' }, 'none', []],
    ['Postgres settings', { settings: { work_mem: '64MB' } }, 'may-restart', ['restart']],
    ['preloaded libraries', { preload: ['pg_cron'] }, 'restart', ['restart']],
    ['disabled', { disabled: true }, 'disconnect', ['disconnect']],
  ] as const)('a change to %s has the expected impact and consents', (_what, primary, impact, consents) => {
    const plan = planOf({ branches: { main: { primary } } }, world({ main: { primary: { name: 'primary' } } }))
    expect(plan.steps).toMatchObject([{ impact, consents }])
  })

  test('a setting that is not declared is not in the plan: `apply` adds it to the request', () => {
    const plan = planOf(
      { branches: { main: { primary: { settings: { work_mem: '64MB' } } } } },
      world({ main: { primary: { settings: { jit: 'off', work_mem: '4MB' } } } }),
    )
    expect(plan.changes[0]?.attributes).toMatchObject([
      { path: 'postgres.settings.work_mem', before: '4MB', after: '64MB', beforeText: '4MB', afterText: '64MB' },
    ])
    expect(plan.steps[0]?.request.body?.endpoint.settings?.pg_settings).toEqual({ work_mem: '64MB' })
  })
})

describe('matching', () => {
  test('a pinned compute on another branch is moved', () => {
    const plan = planOf(
      { branches: { old: { primary: { id: 'ep-app' } }, main: { primary: 'absent' } } },
      world({ main: { primary: { id: 'ep-app' } }, old: {} }),
    )
    expect(plan.steps).toMatchObject([
      {
        kind: 'move',
        impact: 'move',
        consents: ['move'],
        request: { method: 'PATCH', body: { endpoint: { branch_id: branchId('old') } } },
      },
    ])
    expect(plan.changes[0]).toMatchObject({ from: { name: 'main' }, branch: { name: 'old' } })
  })

  test('a pin to a compute of the other type plans a replacement that requires its own consent', () => {
    const plan = planOf(
      { branches: { main: { replicas: { reporting: { id: 'ep-app' } } } } },
      world({ main: { primary: { id: 'ep-app' } } }),
    )
    expect(plan.steps.map(({ kind, consents }) => [kind, consents])).toEqual([
      ['delete', ['replace']],
      ['create', []],
    ])
    expect(plan.summary).toMatchObject({ create: 0, replace: 1, delete: 0 })
    expect(plan.warnings.map(({ code }) => code)).toContain('W_PIN_REPLACED')
  })

  test('a nameless replica is adopted and named instead of replaced', () => {
    const plan = planOf(
      { branches: { main: { replicas: { reporting: { size: 1 } } } }, prune: true },
      world({ main: { replicas: [{ id: 'ep-r' }] } }),
    )
    expect(plan.steps).toMatchObject([{ kind: 'update', impact: 'none', compute: { id: 'ep-r' } }])
    expect(plan.warnings.map(({ code }) => code)).toContain('W_ADOPTED')
  })

  test('an unmanaged named replica is not deleted without `prune`', () => {
    const plan = planOf(
      { branches: { main: { replicas: { reporting: {} } } } },
      world({ main: { replicas: [{ id: 'ep-r', name: 'experiment' }] } }),
    )
    expect(plan.steps.map(({ kind }) => kind)).toEqual(['create'])
    expect(plan.unmanaged.map(({ compute }) => compute.id)).toEqual(['ep-r'])
  })

  test('replicas are matched so that the fewest computes restart', () => {
    const plan = planOf(
      { branches: { main: { replicas: { a: { size: 2 }, b: { size: 1 } } } } },
      world({
        main: {
          replicas: [
            { id: 'ep-1', size: 1 },
            { id: 'ep-2', size: 2 },
          ],
        },
      }),
    )
    expect(plan.summary.restarts).toBe(0)
    expect(plan.changes.map(({ compute }) => [compute.name, compute.id])).toEqual([
      ['a', 'ep-2'],
      ['b', 'ep-1'],
    ])
  })

  test('`prune` must not delete a replica that matches as well as the chosen one', () => {
    const plan = planOf(
      { branches: { main: { replicas: { reporting: {} } } }, prune: true },
      world({
        main: {
          replicas: [
            { id: 'ep-1', name: 'reporting' },
            { id: 'ep-2', name: 'reporting' },
          ],
        },
      }),
    )
    expect(plan.steps).toMatchObject([
      { kind: 'delete', compute: { id: 'ep-2' }, refused: expect.stringContaining('pin') },
    ])
  })

  test('the first rule that matches a branch applies, unless the branch is listed', () => {
    const plan = planOf(
      {
        branches: { 'preview/listed': { primary: { size: 4 } } },
        rules: [
          { match: 'preview/keep-*', primary: { size: 2 } },
          { match: 'preview/*', except: ['preview/no'], primary: { size: 0.5 } },
        ],
      },
      world({
        'preview/listed': { primary: { size: 4 } },
        'preview/keep-me': { primary: {} },
        'preview/1': { primary: {} },
        'preview/no': { primary: {} },
        other: { primary: {} },
      }),
    )
    expect(plan.changes.map(({ branch, after }) => [branch.name, after?.size.max])).toEqual([
      ['preview/1', 0.5],
      ['preview/keep-me', 2],
    ])
    expect(plan.unmanaged.map(({ branch }) => branch.name).sort()).toEqual(['other', 'preview/no'])
  })

  test('a rule that matches no branch causes a warning', () => {
    const plan = planOf({ rules: [{ match: 'preview/*', primary: {} }] }, world({ main: {} }))
    expect(plan.warnings.map(({ code }) => code)).toEqual(['W_RULE_UNUSED'])
  })
})

describe('deletes', () => {
  const live = world({
    main: { primary: { id: 'ep-p' }, replicas: [{ id: 'ep-r', name: 'x' }] },
    other: { primary: {} },
  })

  // promise: unmanaged
  test('an unmanaged compute is not deleted without `prune`', () => {
    expect(planOf({ branches: { main: {} } }, live).steps).toEqual([])
  })

  // promise: unmanaged
  test('`prune` deletes unmanaged computes on declared branches only', () => {
    const plan = planOf({ branches: { main: { primary: {} } }, prune: true }, live)
    expect(plan.steps).toMatchObject([
      { kind: 'delete', consents: ['delete'], impact: 'delete', reason: 'PRUNED', compute: { id: 'ep-r' } },
    ])
    expect(plan.unmanaged.map(({ branch }) => branch.name)).toEqual(['other'])
  })

  test('`primary: absent` deletes the primary', () => {
    expect(planOf({ branches: { main: { primary: 'absent' } } }, live).steps).toMatchObject([
      { kind: 'delete', reason: 'DECLARED_ABSENT', compute: { id: 'ep-p' } },
    ])
  })

  test('a replica declared `absent` is deleted, and nothing else', () => {
    const replicas = [
      { id: 'ep-1', name: 'read-1' },
      { id: 'ep-2', name: 'read-2' },
    ]
    const live = world({ main: { primary: {}, replicas }, other: { primary: {}, replicas: [{ name: 'read-1' }] } })
    const plan = planOf({ branches: { main: { absentReplicas: ['read-1', 'never-existed'] }, other: {} } }, live)
    expect(plan.steps).toMatchObject([
      { kind: 'delete', consents: ['delete'], reason: 'DECLARED_ABSENT', compute: { id: 'ep-1' } },
    ])
    expect(plan.changes).toMatchObject([{ source: { line: 7 } }])
  })

  test('a replica declared `absent` is not turned into another replica by `prune`', () => {
    const live = world({ main: { primary: {}, replicas: [{ id: 'ep-1', name: 'read-1' }] } })
    const main = { primary: {}, replicas: { bi: {} }, absentReplicas: ['read-1'] }
    expect(planOf({ branches: { main }, prune: true }, live).changes).toMatchObject([
      { kind: 'delete', reasons: ['DECLARED_ABSENT'], compute: { id: 'ep-1' } },
      { kind: 'create', compute: { name: 'bi' } },
    ])
  })

  test.each([
    ['`protect: true`', { branches: { main: { protect: true, primary: 'absent' as const } } }, live, undefined],
    [
      '`protect: true` on an absent replica',
      { branches: { main: { protect: true, absentReplicas: ['x'] } } },
      live,
      undefined,
    ],
    [
      "the service's protection",
      { branches: { main: { primary: 'absent' as const } } },
      world({ main: { primary: {}, protected: true } }),
      undefined,
    ],
    [
      '`protect: true` only in the base',
      { branches: { main: { primary: 'absent' as const } } },
      live,
      { baseSafeguards: desired({ branches: { main: { protect: true } } }) },
    ],
  ])('%s rejects a delete', (_why, declared, observed, options) => {
    const plan = planOf(declared, observed, options)
    expect(plan.steps).toMatchObject([{ kind: 'delete', refused: expect.stringContaining('main') }])
    expect(plan.summary.refused).toBe(1)
  })
})

describe('order', () => {
  test('steps without impact come first, then replicas, then their primary, then deletes', () => {
    const plan = planOf(
      {
        branches: {
          main: { primary: { size: 2 }, replicas: { a: { size: 2 }, b: { size: 1, scaleToZero: 600 }, c: {} } },
        },
        prune: true,
      },
      world({
        main: {
          primary: { id: 'ep-p' },
          replicas: [
            { id: 'ep-a', name: 'a' },
            { id: 'ep-b', name: 'b' },
            { id: 'ep-x', name: 'x' },
            { id: 'ep-y', name: 'y' },
          ],
        },
      }),
    )
    expect(plan.steps.map(({ kind, compute }) => [kind, compute.name ?? compute.type])).toEqual([
      ['update', 'b'],
      ['update', 'c'],
      ['update', 'a'],
      ['update', 'read_write'],
      ['delete', 'y'],
    ])
    // The default branch keeps its primary.
    expect(plan.warnings.map(({ code }) => code)).not.toContain('W_DEFAULT_BRANCH')
  })

  test('a step that becomes ready lets the ready steps with less impact go first', () => {
    const branch = { primary: { size: 2 }, replicas: { r: { size: 2 } } }
    const live = { primary: {}, replicas: [{ name: 'r' }] }
    const plan = planOf({ branches: { a: branch, b: branch } }, world({ a: live, b: live }))
    expect(plan.steps.map(({ branch, compute }) => `${branch.name} ${compute.name ?? 'primary'}`)).toEqual([
      'a r',
      'b r',
      'a primary',
      'b primary',
    ])
  })

  test('steps are numbered in their change, and name the operations that they start and the rule that decides', () => {
    const { steps } = planOf(
      {
        branches: {
          main: { primary: { scaleToZero: 600, size: 2 }, replicas: { new: {} } },
          from: { primary: 'absent' },
          to: { primary: { id: 'ep-m' } },
          dev: {},
        },
        prune: true,
      },
      world({
        main: { primary: {} },
        from: { primary: { id: 'ep-m' } },
        to: {},
        dev: { replicas: [{ name: 'old', state: 'idle' }] },
      }),
    )
    expect(steps.map(({ id, kind, actions }) => `${kind}#${id.split('#')[1]} ${actions.join()}`)).toEqual([
      'create#1 start_compute',
      'update#1 apply_config',
      'move#1 ',
      'delete#1 ',
    ])
    expect(steps[1]?.rule).toContain('a change of the size')
  })

  test('a chain of moves starts at the empty branch', () => {
    const plan = planOf(
      { branches: { a: { primary: 'absent' }, b: { primary: { id: 'ep-1' } }, c: { primary: { id: 'ep-2' } } } },
      world({ a: { primary: { id: 'ep-1' } }, b: { primary: { id: 'ep-2' } }, c: {} }),
    )
    expect(plan.steps.map(({ compute }) => compute.id)).toEqual(['ep-2', 'ep-1'])
    expect(plan.steps[1]?.after).toEqual([plan.steps[0]?.id])
  })

  const swap = { a: { primary: { id: 'ep-2' } }, b: { primary: { id: 'ep-1' } } }
  const swapped = { a: { primary: { id: 'ep-1' } }, b: { primary: { id: 'ep-2' } } }

  test('a swap is an error without a parking branch', () => {
    expect(errorsOf({ branches: swap }, world(swapped))).toEqual(['E_PARK_ON'])
  })

  test('a swap requires three moves with a parking branch', () => {
    const plan = planOf({ branches: swap, parkOn: 'park' }, world({ ...swapped, park: {} }))
    expect(plan.steps.map(({ compute, branch, reason }) => [compute.id, branch.name, reason])).toEqual([
      ['ep-2', 'park', 'PARKED'],
      ['ep-1', 'b', 'PIN_ELSEWHERE'],
      ['ep-2', 'a', 'PIN_ELSEWHERE'],
    ])
  })

  test('a delete that frees a branch comes before the move to it', () => {
    const plan = planOf(
      { branches: { a: { primary: { id: 'ep-2' } }, b: {} }, prune: true },
      world({ a: { primary: { id: 'ep-1' } }, b: { primary: { id: 'ep-2' } } }),
    )
    expect(plan.steps.map(({ kind, compute }) => [kind, compute.id])).toEqual([
      ['delete', 'ep-1'],
      ['move', 'ep-2'],
    ])
  })
})

describe('errors', () => {
  test.each([
    ['E_BRANCH_UNKNOWN', { branches: { mian: {} } }, world({ main: {} })],
    ['E_PROJECT_UNKNOWN', { project: 'other-1' }, world({ main: {} })],
    ['E_PIN_UNKNOWN', { branches: { main: { primary: { id: 'ep-gone' } } } }, world({ main: {} })],
    ['E_DUPLICATE', { branches: { main: {}, 'br-main': {} } }, world({ main: {} })],
    [
      'E_PRIMARY_TAKEN',
      { branches: { b: { primary: { id: 'ep-1' } } } },
      world({ a: { primary: { id: 'ep-1' } }, b: { primary: { id: 'ep-2' } } }),
    ],
    ['E_SCALE_TO_ZERO_SIZE', { branches: { main: { primary: { size: 24 } } } }, world({ main: { primary: {} } })],
    [
      'E_SCALE_TO_ZERO_SIZE',
      { branches: { main: { primary: { scaleToZero: 600 } } } },
      world({ main: { primary: { size: 24, scaleToZero: -1 } } }),
    ],
  ] as const)('%s is reported with its source', (code, declared, observed) => {
    expect(errorsOf(declared, observed)).toEqual([code])
  })

  test('an invalid live size is an error only when size or scale to zero changes', () => {
    const live = world({ main: { primary: { size: 24, scaleToZero: 300 } } })
    expect(errorsOf({ branches: { main: { primary: { settings: { jit: 'off' } } } } }, live)).toEqual([])
    expect(errorsOf({ branches: { main: { primary: { size: 18 } } } }, live)).toEqual(['E_SCALE_TO_ZERO_SIZE'])
  })

  test('the message for a size above 16 CU says when the live scale to zero would be kept', () => {
    const messages = [world({ main: { primary: {} } }), world({ main: {} })].map((live) => {
      const result = plan(desired({ branches: { main: { primary: { size: 24 } } } }), live)
      return result.ok ? '' : result.diagnostics.map(({ message }) => message).join()
    })
    expect(messages.map((message) => message.includes('keep its live scale-to-zero setting'))).toEqual([true, false])
  })

  test.each([
    ['mian', 'Did you mean `main`?'],
    ['new-branch', 'The project has `main`, `staging`.'],
  ])('the hint for the unknown branch `%s` is "%s"', (name, hint) => {
    const result = plan(desired({ branches: { [name]: {} } }), world({ main: {}, staging: {} }))
    const whatToDelete =
      'If the branch was deleted, delete its entry at espalier.yaml:2. A rule does not need its branches to exist.'
    expect(result.ok ? [] : result.diagnostics.map((one) => one.hint)).toEqual([`${hint} ${whatToDelete}`])
  })

  test('a pin to a replaced compute resolves to its new id', () => {
    const declared = { branches: { main: { primary: { id: 'ep-old' } } } }
    expect(
      planOf(declared, world({ main: { primary: { id: 'ep-new' } } }), { pinAliases: { 'ep-old': 'ep-new' } }).steps,
    ).toEqual([])
  })
})

test('capacity covers all computes before and after, and a smaller connection limit causes a warning', () => {
  const plan = planOf(
    { branches: { main: { primary: { size: 1 } } } },
    world({ main: { primary: { size: 8 } }, other: { primary: { size: 2 } } }),
  )
  expect(plan.summary.capacity).toEqual({
    before: { computes: 2, minCu: 10, maxCu: 10, ramGb: 40, maxConnections: 3357 + 839 },
    after: { computes: 2, minCu: 3, maxCu: 3, ramGb: 12, maxConnections: 419 + 839 },
  })
  expect(plan.warnings.map(({ code }) => code)).toEqual(['W_SHRINKS'])
})

test('a live size that is not in the size table is kept with a warning, and can be changed', () => {
  const live = world({ main: { primary: { size: 17, scaleToZero: SCALE_TO_ZERO_NEVER } } })
  const kept = planOf({ branches: { main: { primary: {} } } }, live)
  expect(kept.changes).toEqual([])
  expect(kept.summary.capacity.after).toMatchObject({ computes: 1, maxCu: 17 })
  expect(kept.warnings).toMatchObject([{ code: 'W_SIZE_UNKNOWN', message: expect.stringContaining('17 CU') }])
  expect(planOf({ branches: { main: { primary: { size: 2 } } } }, live).changes).toMatchObject([
    { before: { size: { min: 17, max: 17 } }, after: { size: { min: 2, max: 2 } } },
  ])
})

test('the estimate is based on the past operations of the project', () => {
  const live = world({ main: { primary: {} } })
  const [project] = live.projects
  const past = [1000, 2000, 3000, 4000, 9000].map((durationMs) => ({ action: 'apply_config', durationMs }))
  const observed = { ...live, projects: project === undefined ? [] : [{ ...project, pastOperations: past }] }
  const plan = planOf({ branches: { main: { primary: { size: 2 } } } }, observed)
  expect(plan.estimates).toEqual([{ project: PROJECT, medianMs: 3000, p95Ms: 9000, samples: 5 }])
})
