/** Small plans, and how to apply them to the fake API. */
import type { WriteApi } from '../../src/api/index.ts'
import { type ApplyOptions, applyPlan } from '../../src/apply/index.ts'
import {
  type Consent,
  type Observed,
  type ObservedCompute,
  type Outcome,
  type PastOperation,
  PLAN_FORMAT_VERSION,
  type Plan,
  type Step,
} from '../../src/model/index.ts'
import { compute, type FakeApi, fakeApi, fakeClock } from './fake-api.ts'

export const step = (id: string, overrides: Partial<Step> = {}): Step => ({
  id,
  change: id,
  kind: 'update',
  project: 'p',
  branch: { id: 'br-main', name: 'main' },
  compute: { type: 'read_write', id: 'ep-1' },
  request: {
    method: 'PATCH',
    path: '/projects/p/endpoints/ep-1',
    body: { endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 } },
  },
  impact: 'restart',
  consents: ['restart'],
  reason: 'VALUE_DIFFERS',
  rule: 'spec 3.2',
  after: [],
  actions: [],
  ...overrides,
})

export const creating: Partial<Step> = {
  kind: 'create',
  compute: { type: 'read_only', name: 'r' },
  request: {
    method: 'POST',
    path: '/projects/p/endpoints',
    body: { endpoint: { branch_id: 'br-main', type: 'read_only', name: 'r' } },
  },
  consents: [],
}

export const deleting: Partial<Step> = {
  kind: 'delete',
  request: { method: 'DELETE', path: '/projects/p/endpoints/ep-1' },
  consents: ['delete'],
}

export const planWith = (...steps: readonly Step[]): Plan => {
  const none = { computes: 0, minCu: 0, maxCu: 0, ramGb: 0, maxConnections: 0 }
  return {
    formatVersion: PLAN_FORMAT_VERSION,
    projects: ['p'],
    changes: [],
    steps,
    unmanaged: [],
    estimates: [],
    warnings: [],
    summary: {
      create: 0,
      update: 0,
      move: 0,
      replace: 0,
      delete: 0,
      restarts: 0,
      mayRestart: 0,
      disconnects: 0,
      refused: 0,
      unmanaged: 0,
      managed: 0,
      capacity: { before: none, after: none },
      calls: steps.length,
    },
  }
}

export const allow = (...classes: readonly Consent[]) => ({ allow: new Set<Consent>(['restart', ...classes]) })

type Options = Partial<ApplyOptions> & Pick<ApplyOptions, 'plan'> & { readonly api?: Partial<FakeApi> & WriteApi }

/** Applies a plan that was made from the initial state of the fake API. */
export const apply = async (options: Options): Promise<Outcome> => {
  const api = options.api ?? fakeApi({ computes: [compute('ep-1')] })
  const observed = observedOf([...(api.computes?.values() ?? [])])
  return applyPlan({ clock: fakeClock(), consent: allow(), observed, ...options, api })
}

export const observedOf = (
  computes: readonly ObservedCompute[],
  pastOperations: readonly PastOperation[] = [],
): Observed => ({
  takenAt: '2026-01-01T00:00:00.000Z',
  missing: [],
  projects: [{ id: 'p', branches: [], computes, pastOperations }],
})

export const statuses = ({ steps }: Outcome): readonly (readonly [string, string | undefined])[] =>
  steps.map(({ status, reason }) => [status, reason])
