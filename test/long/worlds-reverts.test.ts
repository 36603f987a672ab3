/** Without the code that keeps a promise, the search must find a run that breaks it: it would find such a mistake. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CONSENTS, handoversOf } from '../../src/model/index.ts'
import { Direct } from '../worlds/direct.ts'
import { search } from '../worlds/search.ts'
import { type Shape, SMALLEST, shapes } from '../worlds/shapes.ts'

/** The code that is undone at the moment. */
const undone = vi.hoisted(() => ({ what: '' }))

vi.mock(import('../../src/apply/before/compare.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    compare: (request, before, live) => {
      if (undone.what === 'comparison') return { kind: 'unchanged', body: request.body }
      if (undone.what === 'request') return { kind: 'in-effect' }
      const found = all.compare(request, before, live)
      if (undone.what !== 'limits of a request' || found.kind !== 'unchanged') return found
      return { kind: 'unchanged', body: { endpoint: { ...found.body?.endpoint, suspend_timeout_seconds: 60 } } }
    },
  }
})
vi.mock(import('../../src/apply/before/recheck.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    recheck: async (step, ...rest) =>
      undone.what === 'recheck' && step.kind === 'delete'
        ? { kind: 'send', body: undefined }
        : all.recheck(step, ...rest),
  }
})
vi.mock(import('../../src/apply/before/find-in-place.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    findInPlace: async (...args) => (undone.what === 'search' ? undefined : all.findInPlace(...args)),
    findOther: async (...args) => (undone.what === 'search' ? undefined : all.findOther(...args)),
  }
})
vi.mock(import('../../src/apply/after/converge.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    converge: async (...args) => (undone.what === 'closing plan' ? { converged: true } : all.converge(...args)),
  }
})
vi.mock(import('../../src/apply/lost-primaries.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    lostPrimariesOf: (plan) => {
      const real = all.lostPrimariesOf(plan)
      return undone.what === 'note' ? { ...real, in: () => [] } : real
    },
  }
})

vi.mock(import('../../src/apply/before/restart-windows.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    openingsOf: (...args) => (undone.what === 'windows' ? () => ({ isOpen: true }) : all.openingsOf(...args)),
  }
})
vi.mock(import('../../src/apply/apply-plan.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    applyPlan: (options) =>
      all.applyPlan(undone.what === 'consent' ? { ...options, consent: { allow: new Set(CONSENTS) } } : options),
  }
})

/** How far times may differ when the operations of a change without a response are looked for. */
const CLOCK_SKEW_MS = 5_000
vi.mock(import('../../src/apply/wait/started-operations.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    startedBy: (step, sent, context) =>
      all.startedBy(
        step,
        undone.what === 'clock skew' && sent.kind === 'found' && sent.lostAt !== undefined
          ? { ...sent, lostAt: sent.lostAt + CLOCK_SKEW_MS }
          : sent,
        context,
      ),
  }
})
vi.mock(import('../../src/planner/primary-slots.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    chainsOf: (drafts) =>
      undone.what !== 'rest of a chain'
        ? all.chainsOf(drafts)
        : handoversOf(drafts.flatMap(({ steps }) => steps))
            .map(({ frees, fills }) => drafts.filter(({ change: { id } }) => [frees.change, fills.change].includes(id)))
            .filter(({ length }) => length > 1),
  }
})

const worlds = function* (): Generator<Shape> {
  yield* SMALLEST
  yield* shapes()
}

let direct: Direct
beforeAll(async () => {
  direct = await Direct.open()
})
afterAll(() => direct.sandbox.close())

test.each([
  ['comparison', /was resized by another client, was read again, and was overwritten/],
  ['recheck', /was deleted although its branch had changed and was read again/],
  ['search', /a twin is not reported|steps are left|did not converge/],
  ['closing plan', /after a success, these steps are left/],
  ['note', /no note says that \w+ has no primary/],
  ['request', /a second apply did not converge/],
  ['limits of a request', /belongs to no step with consent/],
  ['consent', /belongs to no step with consent/],
  ['windows', /was interrupted outside its window/],
  ['rest of a chain', /no note says that \w+ has no primary/],
  ['clock skew', /is reported as done without its operation/, 2],
])('without the %s, the search finds a violation', async (what, violation, most = 1) => {
  undone.what = what
  try {
    for (const world of worlds()) {
      const { violation: found } = await search(direct, world, most)
      if (found === undefined) continue
      expect(found.wrong.join('\n')).toMatch(violation)
      return
    }
    expect.fail('nothing was found')
  } finally {
    undone.what = ''
  }
})
