/**
 * Sends the requests of a plan, at most 16 at a time, and discards the responses. Usage: `floor URL KEY`, with the
 * paths on stdin. Espalier sends up to 64 requests at a time, so it can be faster if there are latency and many
 * projects.
 */
import { text } from 'node:stream/consumers'
import { Agent } from 'undici'

const CONNECTIONS = 16
const [url = '', key = ''] = process.argv.slice(2)
const paths = (await text(process.stdin)).split('\n')
const { origin, pathname } = new URL(url)
const agent = new Agent({ connections: CONNECTIONS })
let next = 0
const worker = async (): Promise<void> => {
  for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
    const { body } = await agent.request({
      origin,
      path: `${pathname}${path}`,
      method: 'GET',
      headers: { authorization: `Bearer ${key}` },
    })
    await body.dump({ limit: Number.POSITIVE_INFINITY })
  }
}
await Promise.all(Array.from({ length: CONNECTIONS }, worker))
await agent.close()
