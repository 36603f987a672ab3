/** The agent's Prometheus metrics. */
import { expect, test } from 'vitest'
import { agentMetrics } from '../../src/agent/tell/metrics.ts'
import type { DifferenceView } from '../../src/model/index.ts'
import { at, FakeControl, project, START } from './fake-control.ts'

/** Without comment lines. */
const seriesOf = async (metrics: { text(): Promise<string> }): Promise<readonly string[]> =>
  (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))

const drift = (compute: string, path: string): DifferenceView => ({
  state: 'OutOfSync',
  reason: 'Drift',
  branch: 'main',
  compute,
  kind: 'update',
  path,
  live: '1',
  want: '2',
  impact: 'none',
  effects: [],
  origin: 'drift',
})

test("a project's series show its state, differing computes by origin, and scheduled steps", async () => {
  const control = new FakeControl([
    project('p-1', {
      state: 'Scheduled',
      scheduledSteps: 2,
      missedWindows: 3,
      windowOpensAt: at(3_600),
      differences: [drift('primary', 'size'), drift('primary', 'suspendTimeout'), drift('replica "a"', 'size')],
    }),
  ])
  const metrics = agentMetrics(control)
  const series = await seriesOf(metrics)
  expect(series.filter((line) => line.includes('project='))).toEqual([
    'espalier_project_state{project="p-1",state="Scheduled"} 1',
    'espalier_differing_computes{project="p-1",origin="introduced"} 0',
    'espalier_differing_computes{project="p-1",origin="drift"} 2',
    'espalier_differing_computes{project="p-1",origin="unrecorded"} 0',
    'espalier_scheduled_steps{project="p-1"} 2',
    `espalier_last_refresh_timestamp_seconds{project="p-1",account="default"} ${START / 1_000}`,
    'espalier_project_fresh{project="p-1"} 1',
    `espalier_window_opens_timestamp_seconds{project="p-1"} ${START / 1_000 + 3_600}`,
    'espalier_windows_missed_total{project="p-1"} 3',
  ])
  metrics.close()
})

test('series for past states and removed projects disappear', async () => {
  const control = new FakeControl([project('p-1'), project('p-2')])
  const metrics = agentMetrics(control)
  await metrics.text()
  control.show([project('p-2', { state: 'Blocked' })])
  const series = await seriesOf(metrics)
  expect(series.filter((line) => line.startsWith('espalier_project_state'))).toEqual([
    'espalier_project_state{project="p-2",state="Blocked"} 1',
  ])
  expect(series.join('\n')).not.toContain('p-1')
  metrics.close()
})

test('rounds are counted by result, with their duration and delay', async () => {
  const control = new FakeControl([project('p-1')])
  const metrics = agentMetrics(control)
  control.round({ project: 'p-1', result: 'changed', durationMs: 2_000, delayMs: 500 })
  control.round({ project: 'p-1', result: 'failed', durationMs: 2_000, delayMs: -20 })
  const series = await seriesOf(metrics)
  for (const line of [
    'espalier_reconcile_total{result="unchanged"} 0',
    'espalier_reconcile_total{result="changed"} 1',
    'espalier_reconcile_total{result="failed"} 1',
    'espalier_reconcile_duration_seconds_sum 4',
    'espalier_reconcile_delay_seconds_sum 0.5',
  ]) {
    expect(series).toContain(line)
  }
  metrics.close()
  control.round({ project: 'p-1' })
  expect(await seriesOf(metrics)).toContain('espalier_reconcile_total{result="unchanged"} 0')
})

test('a scrape does not increase the counters taken from the view', async () => {
  const control = new FakeControl([])
  const metrics = agentMetrics(control)
  await metrics.text()
  const series = await seriesOf(metrics)
  expect(series).toContain('espalier_api_requests_total{account="default",code="200"} 12')
  expect(series).toContain('espalier_interval_seconds{account="default"} 300')
  expect(series).toContain(`espalier_git_fetch_timestamp_seconds ${START / 1_000 - 10}`)
  metrics.close()
})

test('metrics with unknown values are left out rather than reported as zero', async () => {
  const control = new FakeControl([])
  const { fetchedAt: _, committedAt: __, ...source } = control.shown.source
  control.show([], { source })
  const metrics = agentMetrics(control)
  expect((await seriesOf(metrics)).filter((line) => line.startsWith('espalier_git'))).toEqual([])
  metrics.close()
})

// promise: metric-series
test('the number of series does not depend on differences, computes or messages', async () => {
  const many = Array.from({ length: 50 }, (_, index) => drift(`replica "${index}"`, `pgSettings.x${index}`))
  const control = new FakeControl([
    project('p-1', { differences: many, message: 'no route to 10.0.0.7', withoutPrimary: ['main', 'dev'] }),
  ])
  const metrics = agentMetrics(control)
  const series = await seriesOf(metrics)
  expect(series.filter((line) => line.includes('project=')).length).toBeLessThanOrEqual(10)
  expect(series).toContain('espalier_branches_without_primary{project="p-1"} 2')
  expect(new Set(series.flatMap((line) => [...line.matchAll(/(\w+)=/g)].map(([, label]) => label)))).toEqual(
    new Set(['account', 'code', 'le', 'observed', 'origin', 'predicted', 'project', 'result', 'state']),
  )
  metrics.close()
})

test('interruptions are counted by what was predicted and what was observed', async () => {
  const control = new FakeControl([project('p-1')])
  const metrics = agentMetrics(control)
  const observations = [
    { predicted: 'none', observed: 'no-restart-seen' },
    { predicted: 'none', observed: 'restarted' },
    { predicted: 'restart', observed: 'restarted' },
    { predicted: 'restart', observed: 'restarted' },
    { predicted: 'restart', observed: 'no-restart-seen' },
  ] as const
  control.round({ project: 'p-1', observations })
  expect((await seriesOf(metrics)).filter((line) => line.startsWith('espalier_interruptions'))).toEqual([
    'espalier_interruptions_total{predicted="none",observed="restarted"} 1',
    // Exposed from the start, because an alert needs to see the increase.
    'espalier_interruptions_total{predicted="none",observed="suspended"} 0',
    'espalier_interruptions_total{predicted="restart",observed="restarted"} 2',
    'espalier_interruptions_total{predicted="restart",observed="no-restart-seen"} 1',
  ])
  metrics.close()
})
