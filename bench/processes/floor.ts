/**
 * Sends the requests of a plan, at most 16 at a time, and discards the responses: `floor URL KEY`, paths on stdin.
 * Espalier sends up to 64 at a time, so with latency and many projects it can be faster than this.
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
