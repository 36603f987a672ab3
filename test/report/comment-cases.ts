/** The situations that a comment on a pull request has to explain, each from manifests and a live project. */
import { judge } from '../../src/action/approval.ts'
import { unapprovedLines } from '../../src/action/require-approval.ts'
import { declaredPolicies, parseManifests } from '../../src/manifest/index.ts'
import type { Observed, StepOutcome } from '../../src/model/index.ts'
import { failureComment, outcomeComment, planComment, problemComment } from '../../src/report/index.ts'
import { type Manifests, type Planned, planSnapshot } from '../../src/workflow/index.ts'
import { PROJECT, world } from '../planner/world.ts'

const FRAME = {
  marker: '<!-- espalier plan 0123456789abcdef -->',
  commit: '0123456789abcdef0123456789abcdef01234567',
  linkTo: (file: string, line: number) => `https://github.com/acme/shop/blob/0123456/${file}#L${line}`,
  whole: 'the job summary, and as JSON in the file of the output `json-plan-path`',
}
const TAKEN_AT = '2026-11-20T10:00:00.000Z'

const manifests = (body: string): Manifests => {
  const loaded = parseManifests([{ path: 'espalier.yaml', text: `version: 1\nproject: ${PROJECT}\n${body}` }])
  return {
    loaded,
    paths: ['espalier.yaml'],
    review: { policies: { files: ['espalier.yaml'], policies: declaredPolicies(loaded.desired) } },
  }
}

const compare = (live: Observed, base: string, head: string): Planned =>
  planSnapshot(
    {
      ...live,
      takenAt: TAKEN_AT,
      projects: live.projects.map((one) => ({ ...one, settings: { subscription: 'scale_v3' } })),
    },
    manifests(head),
    { base: manifests(base) },
  )

const commentOf = ({ result: { plan }, comparison }: Planned): string =>
  planComment({
    ...FRAME,
    introducedBy: 'this pull request',
    plan,
    origin: comparison?.origin ?? { introduced: [], drift: [], settled: [], released: [] },
    takenAt: TAKEN_AT,
    notes: [],
    recordOf: () => '<!-- espalier record -->\n',
  })

const SIZES = 'branches:\n  main: { primary: { size: 1 } }\n  staging: { primary: { size: 1 } }\n'
const shop = world({
  main: { primary: { id: 'ep-main', size: 1 }, replicas: [{ id: 'ep-reports', name: 'reports' }] },
  staging: { primary: { id: 'ep-staging', size: 1 } },
})
const main = (more: string): string => SIZES.replace('main: {', `main: { ${more},`)
const WINDOW = 'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: Europe/Berlin }\n'
const POLICY =
  'policy:\n  - { name: small, level: deny, reason: Larger computes need an approved budget., rule: { maxSize: 2 } }\n'

/** `busy` computes restart, the others are idle. */
const many = (count: number, busy: number): Planned => {
  const names = Array.from({ length: count }, (_, at) => `feature/${at}`)
  const live = world(
    Object.fromEntries(
      names.map((name, at) => [name, { primary: { id: `ep-${at}`, size: 1, state: at < busy ? 'active' : 'idle' } }]),
    ),
  )
  const of = (size: number): string =>
    `branches:\n${names.map((name) => `  ${name}: { primary: { size: ${size} } }\n`).join('')}`
  return compare(live, of(1), of(2))
}

const resized = (window = ''): Planned =>
  compare(shop, window + SIZES, (window + SIZES).replaceAll('size: 1', 'size: 2'))

const outcomeOf = (
  { result: { plan } }: Planned,
  ends: readonly Partial<StepOutcome>[],
  lacking: readonly string[] = [],
): string =>
  outcomeComment({
    ...FRAME,
    marker: '<!-- espalier outcome 0123456789abcdef -->',
    plan,
    lacking,
    outcome: {
      steps: plan.steps.map(({ id }, at) => ({
        step: id,
        operations: [],
        durationMs: 1_500,
        status: 'done',
        ...ends[at],
      })) as readonly StepOutcome[],
      interrupted: false,
      notes: [],
    },
  })

export const COMMENTS: Readonly<Record<string, () => string>> = {
  small: () => commentOf(compare(shop, SIZES, SIZES.replace('size: 1', 'size: 2'))),
  '28-changes': () => commentOf(many(28, 10)),
  '240-changes': () => commentOf(many(240, 80)),
  delete: () => commentOf(compare(shop, SIZES, `prune: true\n${SIZES}`)),
  denied: () => commentOf(compare(shop, SIZES + POLICY, SIZES.replace('size: 1', 'size: 4') + POLICY)),
  refused: () => {
    const kept = `prune: true\n${main('protect: true')}`
    return commentOf(compare(shop, kept.replace('{ protect', '{ replicas: { reports: {} }, protect'), kept))
  },
  removal: () => commentOf(compare(shop, SIZES, 'branches:\n  main: { primary: { size: 1 } }\n')),
  'removed-window': () => commentOf(compare(shop, WINDOW + main('protect: true'), SIZES)),
  drift: () => {
    const drifted = SIZES.replaceAll('size: 1', 'size: 2')
    return commentOf(compare(shop, drifted, `${drifted}# a comment\n`))
  },
  error: () =>
    problemComment({
      ...FRAME,
      diagnostics: manifests(SIZES.replace('size: 1', 'size: 3.5')).loaded.diagnostics,
      notes: [],
    }),
  outage: () =>
    failureComment({
      ...FRAME,
      what: 'plan',
      reason: 'network',
      code: 'E_NETWORK',
      message: 'The service could not be reached (GET /projects/shop): connect ECONNREFUSED.',
      hint: 'Check the network, the base URL and any proxy, then try again.',
      run: 'https://github.com/acme/shop/actions/runs/1',
    }),
  outcome: () =>
    outcomeOf(resized(), [
      { observation: { predicted: 'restart', observed: 'restarted', at: '2026-11-20T10:00:02.000Z' } },
      {
        status: 'failed',
        reason: 'operation-failed',
        message:
          'Operation op-1 (apply_config) failed: no host had room. Its change may not be in effect, even if the next plan shows no difference.',
        repair: 'restart',
        computeId: 'ep-staging',
      },
    ]),
  scheduled: () =>
    outcomeOf(resized(WINDOW), [
      { status: 'scheduled', opensAt: '2026-11-22T01:00:00.000Z' },
      { status: 'scheduled', opensAt: '2026-11-22T01:00:00.000Z' },
    ]),
  'not-yet-approved': () => {
    const { lacking } = judge(resized().result.plan.changes, () => true, [
      { number: 7, approved: 'the approval by rob is for an earlier commit' },
    ])
    return outcomeOf(compare(shop, SIZES, SIZES), [], unapprovedLines(lacking))
  },
}
