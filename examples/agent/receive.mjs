// Receives events from the agent, verifies their signatures, skips repeated deliveries, and passes the other events to a
// function. Has no dependencies. The other examples in this folder use this file.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const MAX_AGE_SECONDS = 5 * 60

/** @param secret the content of the agent's --notify-secret-file (`whsec_…`). */
export const isSigned = (headers, body, secret, now = Date.now()) => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given = '' } = headers
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= MAX_AGE_SECONDS)) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  return given.split(' ').some((one) => {
    const signature = Buffer.from(one.replace(/^v1,/, ''), 'base64')
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
}

/**
 * Returns 204 when `handle` has processed the event. If `handle` fails, it returns 500, and the agent sends the event
 * again. An event that has been processed is not processed again if it arrives a second time.
 */
export const receive = ({ secret, port, host = '127.0.0.1', handle, log = console.error }) => {
  const handled = new Set()
  const server = createServer(async (request, response) => {
    try {
      const body = await text(request)
      if (!isSigned(request.headers, body, secret)) return response.writeHead(401).end()
      const event = JSON.parse(body)
      if (!handled.has(event.id)) await handle(event)
      handled.add(event.id)
      response.writeHead(204).end()
    } catch (error) {
      log(error)
      response.writeHead(500).end()
    }
  })
  return server.listen(port, host)
}
