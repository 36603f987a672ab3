/** Exports Prometheus metrics. Each project has at most ten series, and no label refers to a compute. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { DifferenceOrigin, ObservedEffect, ProjectView } from '../../model/index.ts'
import type { AgentControl } from '../control.ts'

const INTERRUPTIONS: ReadonlySet<ObservedEffect> = new Set([
  'restarted',
  'restarted-cause-unknown',
  'suspended',
  'suspended-by-itself',
])

export type AgentMetrics = ReturnType<typeof agentMetrics>

const ORIGINS: readonly DifferenceOrigin[] = ['introduced', 'drift', 'unrecorded']

export const agentMetrics = (control: Pick<AgentControl, 'view' | 'watchRounds'>) => {
  const registry = new Registry()
  const registers = [registry]
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers })

  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name, help, labelNames, registers })

  const results = counter('espalier_reconcile_total', 'Number of completed reconcile rounds, by result.', ['result'])
  for (const result of ['unchanged', 'changed', 'failed']) results.inc({ result }, 0)
  const durations = new Histogram({
    name: 'espalier_reconcile_duration_seconds',
    help: 'Duration of reconcile rounds.',
    buckets: [0.1, 0.3, 1, 3, 10, 30, 60, 300, 1_800],
    registers,
  })
  const delays = new Histogram({
    name: 'espalier_reconcile_delay_seconds',
    help: 'Delay between the time when a reconcile round was due and its start.',
    buckets: [0.1, 1, 5, 15, 30, 60, 300, 1_800],
    registers,
  })
  const interruptions = counter(
    'espalier_interruptions_total',
    'Number of steps that interrupted users or were predicted to, by predicted impact and observed effect.',
    ['predicted', 'observed'],
  )
  for (const observed of ['restarted', 'suspended'] as const) interruptions.inc({ predicted: 'none', observed }, 0)
  const stopWatching = control.watchRounds(({ result, durationMs, delayMs, observations }) => {
    for (const { predicted, observed } of observations) {
      if (predicted !== 'none' || INTERRUPTIONS.has(observed)) interruptions.inc({ predicted, observed })
    }
    results.inc({ result })
    durations.observe(durationMs / 1_000)
    delays.observe(Math.max(0, delayMs) / 1_000)
  })

  const states = gauge('espalier_project_state', 'Always 1. The label `state` contains the state of the project.', [
    'project',
    'state',
  ])
  const computes = gauge(
    'espalier_differing_computes',
    'Number of computes that differ from their manifests, by which of the two changed last, or `unrecorded` if unknown.',
    ['project', 'origin'],
  )
  const scheduled = gauge(
    'espalier_scheduled_steps',
    'Number of steps that are waiting for a restart window, an earlier wave or --max-restarts.',
    ['project'],
  )
  const refreshed = gauge('espalier_last_refresh_timestamp_seconds', 'When the live project was last read.', [
    'project',
    'account',
  ])
  const fresh = gauge(
    'espalier_project_fresh',
    '1 if the project was read less than two intervals ago, pauses of the machine aside, and no read has failed since; otherwise 0.',
    ['project'],
  )
  const unprovided = gauge(
    'espalier_branches_without_primary',
    'Number of database branches that an unfinished apply left without a primary.',
    ['project'],
  )
  const opens = gauge(
    'espalier_window_opens_timestamp_seconds',
    'When the next restart window for pending steps opens.',
    ['project'],
  )
  const missed = counter(
    'espalier_windows_missed_total',
    'Number of restart windows reported as closed before their steps were done.',
    ['project'],
  )
  const intervals = gauge(
    'espalier_interval_seconds',
    'The refresh interval in use, longer than --interval if the rate limit requires it.',
    ['account'],
  )
  const requests = counter(
    'espalier_api_requests_total',
    'Number of requests to the service, by HTTP status, or `none` without a response.',
    ['account', 'code'],
  )
  const fetched = gauge('espalier_git_fetch_timestamp_seconds', 'When the manifests were last fetched.', [])
  const committed = gauge(
    'espalier_git_commit_timestamp_seconds',
    'When the commit of the current manifests was made.',
    [],
  )
  const ofTheView = [
    states,
    computes,
    scheduled,
    refreshed,
    fresh,
    unprovided,
    opens,
    missed,
    intervals,
    requests,
    fetched,
    committed,
  ]

  const update = (): void => {
    // Remove the series of projects that are no longer declared.
    for (const one of ofTheView) one.reset()
    const { projects, accounts, source } = control.view()
    for (const project of projects) {
      const { id } = project
      states.set({ project: id, state: project.state }, 1)
      for (const origin of ORIGINS) computes.set({ project: id, origin }, differingComputes(project, origin))
      scheduled.set({ project: id }, project.scheduledSteps)
      fresh.set({ project: id }, project.isFresh ? 1 : 0)
      if (project.withoutPrimary !== undefined) unprovided.set({ project: id }, project.withoutPrimary.length)
      missed.inc({ project: id }, project.missedWindows)
      setTime(refreshed, { project: id, account: project.account }, project.refreshedAt)
      setTime(opens, { project: id }, project.windowOpensAt)
    }
    for (const { name, intervalSeconds, requests: answers } of accounts) {
      intervals.set({ account: name }, intervalSeconds)
      for (const [code, count] of Object.entries(answers)) requests.inc({ account: name, code }, count)
    }
    setTime(fetched, {}, source.fetchedAt)
    setTime(committed, {}, source.committedAt)
  }
  return {
    contentType: registry.contentType,
    text: (): Promise<string> => {
      update()
      return registry.metrics()
    },
    close: stopWatching,
  }
}

const setTime = <L extends string>(
  gauge: Gauge<L>,
  labels: Partial<Record<L, string>>,
  iso: string | undefined,
): void => {
  if (iso === undefined) gauge.remove(labels)
  else gauge.set(labels, Date.parse(iso) / 1_000)
}

const differingComputes = ({ differences }: ProjectView, origin: DifferenceOrigin): number =>
  new Set(
    differences.filter((one) => one.origin === origin).map(({ branch, compute }) => JSON.stringify([branch, compute])),
  ).size
