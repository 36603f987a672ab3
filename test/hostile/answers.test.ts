/** Servers whose responses never end. */
import { setInterval } from 'node:timers'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { ApiError } from '../../src/api/index.ts'
import { Requester } from '../../src/api/requester.ts'
import { Transport } from '../../src/api/transport.ts'
import { serve } from '../serve.ts'

// promise: slow-response
test('a slow response times out', async () => {
  const { port } = await serve((_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(timer))
  })
  const transport = new Transport({
    baseUrl: new URL(`http://127.0.0.1:${port}`),
    apiKey: () => 'a-key',
    userAgent: 'x',
    connections: 1,
    answerTimeoutMs: 50,
  })
  onTestFinished(() => transport.close())
  await expect(transport.send('GET', '/', undefined)).rejects.toMatchObject({
    code: 'E_NETWORK',
    message: expect.stringContaining('the response was not complete in time'),
  })
})

// promise: slow-response
test('several slow responses share one timeout', async () => {
  let now = 0
  let asked = 0
  const dripping = {
    send: async (_method: string, path: string, _body: unknown, _signal: unknown, withinMs: number) => {
      asked += 1
      // Each response almost takes the whole timeout.
      now += Math.min(withinMs, 200_000)
      throw new ApiError('E_NETWORK', 'the response was not complete in time', { method: 'GET', path })
    },
  } as unknown as Transport
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms
    },
  }
  const requester = new Requester(dripping, {
    baseUrl: new URL('http://127.0.0.1'),
    clock,
    random: () => 0,
    budget: undefined,
    lockTimeoutMs: 600_000,
  })
  await expect(requester.read('/projects', z.unknown())).rejects.toMatchObject({ code: 'E_NETWORK' })
  expect(asked).toBe(2)
  expect(now).toBeLessThan(302_000)
})
