/** docs/reference/agent.md lists all metrics of the agent. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { agentMetrics } from '../../src/agent/tell/metrics.ts'
import { FakeControl } from './fake-control.ts'

const page = readFileSync('docs/reference/agent.md', 'utf8')

test('docs/reference/agent.md lists every metric with its type', async () => {
  const metrics = agentMetrics(new FakeControl())
  const exposed = [...(await metrics.text()).matchAll(/^# TYPE (\w+) (\w+)/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  )
  metrics.close()
  const listed = [...page.matchAll(/^\| `(espalier_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`)
  expect(listed.toSorted()).toEqual(exposed.toSorted())
})
