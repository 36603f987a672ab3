/** Sends the requests of a plan, equally concurrently, and discards the responses: `floor URL KEY`, paths on stdin. */
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
