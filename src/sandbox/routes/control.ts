/** `/_sandbox/`: the API that controls the sandbox. The service has no such API. */
import { timingSafeEqual } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { EspalierError, messageOf } from '../../base/index.ts'
import { parseDuration } from '../../model/index.ts'
import { ConnectionError } from '../computes/computes.ts'
import type { SandboxControl } from '../control/control.ts'
import { faultShape } from '../faults.ts'
import { ApiError } from '../world/requests.ts'
import { presentOperation } from './present.ts'
import { limitBody, readBody } from './request.ts'

export const CONTROL_ROOT = '/_sandbox'

const millisecondsOf = (text: string): number | undefined => {
  const seconds = parseDuration(text)
  return seconds === undefined ? undefined : seconds * 1_000
}

const duration = z.union([z.number().min(0), z.string().transform(millisecondsOf).pipe(z.number())], {
  error: 'must be a number of milliseconds, or a duration in whole units of s, m, h or d, such as 90s, 5m or 7d',
})
const clockBody = z.object({ advance: duration.optional(), scale: z.number().min(0).max(1_000_000).optional() })
/** `null`: the measured load. */
const loadBody = z.object({ load: z.number().min(0).nullable() })
const connectionBody = z.object({ endpoint_id: z.string() })
const MAX_WORLD_BYTES = 512 * 1024 * 1024

export const controlRoutes = (control: SandboxControl, token: string): Hono => {
  const app = new Hono()
  app.use('*', async (context, next) => {
    if (!isToken(context.req.header('authorization'), token)) {
      throw new ApiError(401, "the sandbox's control API requires the control token, not the API key")
    }
    await next()
  })
  app.use('*', limitBody(MAX_WORLD_BYTES))
  app.get('/', (context) =>
    context.json({
      computes: control.computesKind,
      clock: clockOf(control),
      routes: ['clock', 'computes', 'connections', 'faults', 'operations', 'world', 'requests'].map(
        (name) => `${CONTROL_ROOT}/${name}`,
      ),
    }),
  )
  app.get('/clock', (context) => context.json(clockOf(control)))
  app.post('/clock', async (context) => {
    const { advance, scale } = await readBody(context, clockBody)
    if (scale !== undefined) control.clock.scale = scale
    if (advance !== undefined) await control.clock.advance(advance)
    return context.json(clockOf(control))
  })
  app.get('/computes', async (context) => context.json({ computes: await control.computes() }))
  app.put('/computes/:id/load', async (context) => {
    control.setLoad(context.req.param('id'), (await readBody(context, loadBody)).load)
    return context.body(null, 204)
  })
  app.get('/connections', (context) => context.json({ connections: control.connections() }))
  app.post('/connections', async (context) => {
    const { endpoint_id } = await readBody(context, connectionBody)
    return context.json({ connection: await orApiError(control.connect(endpoint_id)) }, 201)
  })
  app.delete('/connections/:id', (context) => {
    control.disconnect(context.req.param('id'))
    return context.body(null, 204)
  })
  app.get('/faults', (context) => context.json({ faults: control.faults() }))
  app.post('/faults', async (context) => context.json(control.addFault(await readBody(context, faultShape)), 201))
  app.delete('/faults', (context) => {
    control.clearFaults()
    return context.body(null, 204)
  })
  app.delete('/faults/:id', (context) => {
    if (!control.removeFault(context.req.param('id'))) throw new ApiError(404, 'fault not found')
    return context.body(null, 204)
  })
  app.post('/operations/:id/retry', (context) =>
    context.json({ operation: presentOperation(control.retry(context.req.param('id'))) }),
  )
  app.get('/world', (context) => context.json(control.dump()))
  app.put('/world', async (context) => loadWorld(context, control))
  app.get('/requests', (context) => context.json({ requests: control.requests() }))
  app.delete('/requests', (context) => {
    control.clearRequests()
    return context.body(null, 204)
  })
  return app
}

const clockOf = ({ clock }: SandboxControl) => ({ now: new Date(clock.now()).toISOString(), scale: clock.scale })

const loadWorld = async (context: Context, control: SandboxControl): Promise<Response> => {
  const dump = await readBody(context, z.unknown())
  try {
    control.load(dump)
  } catch (error) {
    if (error instanceof EspalierError) throw new ApiError(400, error.message)
    throw error
  }
  return context.body(null, 204)
}

const orApiError = async <T>(opening: Promise<T>): Promise<T> => {
  try {
    return await opening
  } catch (error) {
    const state = error instanceof ConnectionError ? error.sqlState : sqlStateOf(error)
    if (state === undefined) throw error
    throw new ApiError(422, messageOf(error), state)
  }
}

/** The SQLSTATE of an error from Postgres. */
const sqlStateOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

const isToken = (header: string | undefined, token: string): boolean => {
  const given = Buffer.from(header ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
