/**
 * Runs a sandbox in a separate process. The seed is given as JSON on the command line. Prints `{url, key}`, then reads
 * lines of input. A line `{latencyMs}` sets the latency of all requests. For any other line, it prints `{requests,
 * operations}`: the requests since the last such line (at most the newest 10,000), and all operations.
 */
import { createInterface } from 'node:readline'
import { startSandbox } from '../src/sandbox/index.ts'
import type { SeenOperation, ServerOrder } from './start-server.ts'
import { seedOf } from './worlds.ts'

const order = JSON.parse(process.argv[2] ?? '') as ServerOrder
const sandbox = await startSandbox({
  seed: seedOf(order.world),
  background: false,
  ...(order.durations === undefined ? {} : { durations: order.durations }),
  ...(order.durationSpread === undefined ? {} : { durationSpread: order.durationSpread }),
})
const operations = (): readonly SeenOperation[] =>
  sandbox.control
    .dump()
    .changes.flatMap((change) => ('put' in change && change.put.kind === 'operation' ? [change.put] : []))
    .map(({ id, projectId, startedAt, updatedAt }) => ({ id, projectId, startedAt: startedAt ?? updatedAt, updatedAt }))
console.log(JSON.stringify({ url: sandbox.apiUrl, key: sandbox.apiKey }))
for await (const line of createInterface({ input: process.stdin })) {
  const { latencyMs } = JSON.parse(line) as { readonly latencyMs?: number }
  if (latencyMs === undefined) {
    console.log(JSON.stringify({ requests: sandbox.control.requests(), operations: operations() }))
    sandbox.control.clearRequests()
    continue
  }
  sandbox.control.clearFaults()
  if (latencyMs > 0) {
    sandbox.control.addFault({ on: 'request', times: 0, effect: { kind: 'latency', ms: latencyMs } })
  }
  console.log('{}')
}
await sandbox.close()
