/** Without the code that keeps a promise, the search must find a run that breaks it: it would find such a mistake. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Recheck } from '../../src/apply/before/recheck.ts'
import { CONSENTS } from '../../src/model/index.ts'
import { Direct } from '../worlds/direct.ts'
import { search } from '../worlds/search.ts'
import { shapes } from '../worlds/shapes.ts'

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
        : idleIf(undone.what === 'check for use', await all.recheck(step, ...rest)),
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
vi.mock(import('../../src/apply/wait/started-operations.ts'), async (original) => {
  const all = await original()
  return {
    ...all,
    startedBy: (step, sent, context) =>
      all.startedBy(
        step,
        undone.what === 'clock tolerance' && sent.kind === 'found' && sent.lostAt !== undefined
          ? { ...sent, lostAt: sent.lostAt + 5_000 }
          : sent,
        context,
      ),
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

const idleIf = (isUndone: boolean, found: Recheck): Recheck =>
  isUndone && found.kind === 'send' && found.live !== undefined
    ? { ...found, live: { ...found.live, state: 'idle' } }
    : found

let direct: Direct
beforeAll(async () => {
  direct = await Direct.open()
})
afterAll(() => direct.sandbox.close())

test.each([
  ['comparison', 1, /was resized by another client, was read again, and was overwritten/],
  ['recheck', 1, /was deleted although its branch had changed and was read again/],
  ['search', 1, /a twin is not reported|steps are left|did not converge/],
  ['closing plan', 1, /after a success, these steps are left/],
  ['note', 1, /no note says that \w+ has no primary/],
  ['request', 1, /a second apply did not converge/],
  ['limits of a request', 1, /belongs to no step with consent/],
  ['consent', 1, /belongs to no step with consent/],
  ['windows', 1, /was interrupted outside its window/],
  ['check for use', 1, /was interrupted without consent/],
  ['clock tolerance', 2, /is reported as done without its operation/],
])('without the %s, the search finds a violation', async (what, most, violation) => {
  undone.what = what
  try {
    for (const world of shapes()) {
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
