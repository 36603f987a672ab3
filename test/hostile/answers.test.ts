/** Servers that answer without ever being done. */
import { setInterval } from 'node:timers'
import { expect, onTestFinished, test } from 'vitest'
import { Transport } from '../../src/api/transport.ts'
import { serveWith } from './servers.ts'

test('an answer that drips ends with the time that a whole one has', async () => {
  const port = await serveWith((_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(timer))
  })
  const transport = new Transport({
    baseUrl: new URL(`http://127.0.0.1:${port}`),
    apiKey: 'a-key',
    userAgent: 'x',
    connections: 1,
    answerTimeoutMs: 50,
  })
  onTestFinished(() => transport.close())
  await expect(transport.send('GET', '/', undefined)).rejects.toMatchObject({
    code: 'E_NETWORK',
    message: expect.stringContaining('the whole of it did not come in time'),
  })
})
