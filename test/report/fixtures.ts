/** A plan with one change of each kind and its outcome, both written by hand. */
import type {
  ApplyEvent,
  BranchName,
  Change,
  Diagnostic,
  Outcome,
  Plan,
  PlannedCompute,
  Source,
  Step,
} from '../../src/model/index.ts'

export const PROJECT = 'quiet-river-12345678'

export const at = (line: number, column = 5, length = 7): Source => ({
  file: 'projects/shop.yaml',
  line,
  column,
  length,
})

const main: BranchName = { id: 'br-main-a1', name: 'main' }
const staging: BranchName = { id: 'br-staging-b2', name: 'staging' }
const old: BranchName = { id: 'br-old-c3', name: 'old' }

const primary: PlannedCompute = {
  type: 'read_write',
  id: 'ep-main-1',
  host: 'ep-main-1.eu.example.net',
  state: 'active',
}
const idle: PlannedCompute = {
  type: 'read_write',
  id: 'ep-stage-2',
  host: 'ep-stage-2.eu.example.net',
  state: 'idle',
}
const reporting: PlannedCompute = { type: 'read_only', name: 'reporting' }
const moving: PlannedCompute = {
  type: 'read_only',
  name: 'etl',
  id: 'ep-etl-3',
  host: 'ep-etl-3.eu.example.net',
  state: 'active',
}
const doomed: PlannedCompute = { type: 'read_only', id: 'ep-old-4', host: 'ep-old-4.eu.example.net', state: 'active' }

const changes: readonly Change[] = [
  {
    id: `${PROJECT}/br-main-a1/primary`,
    kind: 'update',
    project: PROJECT,
    branch: main,
    compute: primary,
    attributes: [
      {
        path: 'size',
        before: { min: 1, max: 1 },
        after: { min: 1, max: 4 },
        beforeText: '1 CU',
        afterText: '1–4 CU',
        impact: 'restart',
        rule: 'spec 2.4',
        source: at(8),
      },
      {
        path: 'postgres.settings.work_mem',
        before: '4MB',
        after: '64MB',
        beforeText: '4MB',
        afterText: '64MB',
        impact: 'may-restart',
        rule: 'spec 4',
        source: at(9),
      },
    ],
    effects: [
      { kind: 'max-connections', before: 419, after: 1678, when: 'now' },
      { kind: 'cache', before: { min: 3, max: 3 }, after: { min: 3, max: 12 }, when: 'now' },
      { kind: 'temporary-disk', before: 20, after: 60, when: 'now' },
      { kind: 'autoscaling', before: false, after: true, when: 'now' },
    ],
    impact: 'restart',
    reasons: ['VALUE_DIFFERS'],
    before: { size: { min: 1, max: 1 }, ramGb: 4, maxConnections: 419 },
    after: { size: { min: 1, max: 4 }, ramGb: 16, maxConnections: 1678 },
    source: at(6),
  },
  {
    id: `${PROJECT}/br-main-a1/replica/reporting`,
    kind: 'create',
    project: PROJECT,
    branch: main,
    compute: reporting,
    attributes: [
      {
        path: 'size',
        after: { min: 2, max: 2 },
        afterText: '2 CU',
        impact: 'none',
        rule: 'spec 2',
        source: at(12),
      },
    ],
    effects: [],
    impact: 'none',
    reasons: ['NOT_OBSERVED'],
    after: { size: { min: 2, max: 2 }, ramGb: 8, maxConnections: 839 },
    source: at(11),
  },
  {
    id: `${PROJECT}/br-main-a1/replica/etl`,
    kind: 'move',
    project: PROJECT,
    branch: main,
    from: old,
    compute: moving,
    attributes: [],
    effects: [],
    impact: 'move',
    reasons: ['PIN_ELSEWHERE'],
    source: at(13),
  },
  {
    id: `${PROJECT}/br-old-c3/ep-old-4`,
    kind: 'delete',
    project: PROJECT,
    branch: old,
    compute: doomed,
    attributes: [],
    effects: [],
    impact: 'delete',
    reasons: ['PRUNED'],
    refused: 'The branch is protected by the manifest (protect: true).',
    before: { size: { min: 1, max: 1 }, ramGb: 4, maxConnections: 419 },
  },
  {
    id: `${PROJECT}/br-staging-b2/primary`,
    kind: 'update',
    project: PROJECT,
    branch: staging,
    compute: idle,
    attributes: [
      {
        path: 'scaleToZero',
        before: -1,
        after: 300,
        beforeText: 'never',
        afterText: '5m',
        impact: 'none',
        rule: 'spec 3',
        source: at(17),
      },
    ],
    effects: [{ kind: 'sleep', before: false, after: 300, when: 'later' }],
    impact: 'none',
    unlessIdle: 'restart',
    reasons: ['VALUE_DIFFERS'],
    source: at(16),
  },
]

const stepOf = (
  index: number,
  own: Pick<Step, 'kind' | 'request' | 'consents' | 'after' | 'actions'> & { readonly rule: string },
): Step => {
  const change = changes[index]
  const [reason] = change?.reasons ?? []
  if (change === undefined || reason === undefined) throw new Error(`no change ${index}`)
  return {
    id: `${change.id}#1`,
    change: change.id,
    project: PROJECT,
    branch: change.branch,
    compute: change.compute,
    impact: change.impact,
    ...(change.unlessIdle === undefined ? {} : { unlessIdle: change.unlessIdle }),
    ...(change.refused === undefined ? {} : { refused: change.refused }),
    ...(change.source === undefined ? {} : { source: change.source }),
    reason,
    ...own,
  }
}

const endpoint = (id: string): string => `/projects/${PROJECT}/endpoints/${id}`

const steps: readonly Step[] = [
  stepOf(1, {
    kind: 'create',
    request: {
      method: 'POST',
      path: `/projects/${PROJECT}/endpoints`,
      body: { endpoint: { branch_id: 'br-main-a1', type: 'read_only', name: 'reporting' } },
    },
    consents: [],
    rule: 'spec 2',
    after: [],
    actions: ['start_compute'],
  }),
  stepOf(4, {
    kind: 'update',
    request: { method: 'PATCH', path: endpoint('ep-stage-2'), body: { endpoint: { suspend_timeout_seconds: 300 } } },
    consents: [],
    rule: 'spec 3',
    after: [],
    actions: [],
  }),
  stepOf(0, {
    kind: 'update',
    request: { method: 'PATCH', path: endpoint('ep-main-1'), body: { endpoint: { autoscaling_limit_max_cu: 4 } } },
    consents: ['restart'],
    rule: 'spec 2.4',
    after: [],
    actions: ['apply_config'],
  }),
  stepOf(2, {
    kind: 'move',
    request: { method: 'PATCH', path: endpoint('ep-etl-3'), body: { endpoint: { branch_id: 'br-main-a1' } } },
    consents: ['move'],
    rule: 'spec 5',
    after: [`${PROJECT}/br-main-a1/replica/reporting#1`, `${PROJECT}/br-main-a1/primary#1`],
    actions: [],
  }),
  stepOf(3, {
    kind: 'delete',
    request: { method: 'DELETE', path: endpoint('ep-old-4') },
    consents: ['delete'],
    rule: 'spec 6',
    after: [],
    actions: [],
  }),
]

export const WARNING: Diagnostic = {
  severity: 'warning',
  code: 'W_RULE_UNUSED',
  message: 'The rule for `preview/*` matches no branch.',
  hint: 'Delete it, or mend its pattern.',
  source: at(21, 12, 9),
}

export const PLAN: Plan = {
  formatVersion: '3.0',
  projects: [PROJECT],
  changes,
  steps,
  unmanaged: [
    {
      project: PROJECT,
      branch: old,
      compute: { type: 'read_only', name: 'scratch', id: 'ep-scratch-5', host: 'h', state: 'idle' },
      size: { min: 1, max: 1 },
    },
  ],
  estimates: [{ project: PROJECT, medianMs: 2_500, p95Ms: 80_000, samples: 40 }],
  summary: {
    create: 1,
    update: 2,
    move: 1,
    replace: 0,
    delete: 1,
    restarts: 1,
    mayRestart: 0,
    disconnects: 0,
    refused: 1,
    unmanaged: 1,
    managed: 4,
    capacity: {
      before: { computes: 5, minCu: 4.25, maxCu: 5, ramGb: 20, maxConnections: 2095 },
      after: { computes: 5, minCu: 5.25, maxCu: 9, ramGb: 36, maxConnections: 12_345 },
    },
    calls: 5,
  },
  warnings: [WARNING],
}

/** The same changes in several projects, two of which have a name. */
export const FLEET: Plan = {
  ...PLAN,
  projects: ['p-1', 'p-2', 'p-3'],
  projectNames: { 'p-1': 'storefront', 'p-2': 'billing' },
  changes: ['p-1', 'p-2', 'p-3'].flatMap((project) =>
    changes.map((change) => ({ ...change, id: `${project}/${change.id}`, project })),
  ),
  steps: ['p-1', 'p-2', 'p-3'].flatMap((project) =>
    steps.map((step) => ({
      ...step,
      id: `${project}/${step.id}`,
      change: `${project}/${step.change}`,
      project,
      after: step.after.map((id) => `${project}/${id}`),
    })),
  ),
}

const NO_TOTAL = { computes: 2, minCu: 2, maxCu: 2, ramGb: 8, maxConnections: 838 }

export const EMPTY_PLAN: Plan = {
  ...PLAN,
  changes: [],
  steps: [],
  unmanaged: [],
  estimates: [],
  warnings: [],
  summary: {
    ...PLAN.summary,
    create: 0,
    update: 0,
    move: 0,
    replace: 0,
    delete: 0,
    restarts: 0,
    refused: 0,
    unmanaged: 0,
    managed: 2,
    calls: 0,
    capacity: { before: NO_TOTAL, after: NO_TOTAL },
  },
}

export const OUTCOME: Outcome = {
  steps: [
    {
      step: `${PROJECT}/br-main-a1/replica/reporting#1`,
      status: 'done',
      operations: [{ id: 'op-1', action: 'start_compute', status: 'finished', failuresCount: 0 }],
      computeId: 'ep-new-6',
      durationMs: 2_340,
    },
    { step: `${PROJECT}/br-staging-b2/primary#1`, status: 'done', operations: [], durationMs: 410 },
    {
      step: `${PROJECT}/br-main-a1/primary#1`,
      status: 'failed',
      reason: 'operation-failed',
      message: 'The operation apply_config failed after 3 tries.',
      operations: [{ id: 'op-2', action: 'apply_config', status: 'failed', failuresCount: 3 }],
      durationMs: 83_000,
    },
    {
      step: `${PROJECT}/br-main-a1/replica/etl#1`,
      status: 'skipped',
      reason: 'depends-on-failed',
      message: 'A step before it failed.',
      operations: [],
      durationMs: 0,
    },
    {
      step: `${PROJECT}/br-old-c3/ep-old-4#1`,
      status: 'not-allowed',
      reason: 'not-consented',
      message: 'It needs --allow delete.',
      operations: [],
      durationMs: 0,
    },
  ],
  interrupted: false,
  notes: ['The compute `ep-main-1` is pinned in line 7: write the new id there.'],
}

export const ALL_DONE: Outcome = {
  steps: OUTCOME.steps.slice(0, 2),
  interrupted: false,
  converged: true,
  notes: [],
}

/** One event of each kind that is printed as a line. */
export const eventsFor = (step: Step, text: string): readonly ApplyEvent[] => {
  const time = '2026-11-20T10:00:00.000Z'
  return [
    { time, type: 'step-start', step },
    { time, type: 'call', step: step.id, method: 'PATCH', path: `/x/${text}`, attempt: 2 },
    { time, type: 'wait', step: step.id, why: 'locked', message: text, delayMs: 1_500 },
    { time, type: 'operation', step: step.id, operation: { id: text, action: text, status: text, failuresCount: 1 } },
    {
      time,
      type: 'step-end',
      outcome: { step: step.id, status: 'failed', message: text, operations: [], durationMs: 10 },
    },
    { time, type: 'interrupt', message: text },
  ]
}

/** The plan with every untrusted name and message replaced by `text`. */
export const planWith = (text: string, plan: Plan = PLAN): Plan => {
  const named = (branch: BranchName): BranchName => ({ ...branch, name: text })
  const titled = (compute: PlannedCompute): PlannedCompute => ({ ...compute, name: text })
  return {
    ...plan,
    changes: plan.changes.map((change) => ({
      ...change,
      branch: named(change.branch),
      ...(change.from === undefined ? {} : { from: named(change.from) }),
      compute: titled(change.compute),
      attributes: change.attributes.map((one) => ({
        ...one,
        path: `postgres.settings.${text}`,
        ...(one.before === undefined ? {} : { before: text, beforeText: text }),
        after: text,
        afterText: text,
      })),
      ...(change.refused === undefined ? {} : { refused: text }),
    })),
    steps: plan.steps.map((step) => ({ ...step, branch: named(step.branch), compute: titled(step.compute) })),
    unmanaged: plan.unmanaged.map((one) => ({ ...one, branch: named(one.branch), compute: titled(one.compute) })),
    warnings: plan.warnings.map((one) => ({ ...one, message: text, hint: text })),
  }
}
