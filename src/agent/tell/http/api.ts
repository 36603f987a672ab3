/** The agent's JSON API. */
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { EspalierError, plainJson, readBounded, TooLongError } from '../../../base/index.ts'
import { issueAt } from '../../../base/issue-text.ts'
import { parseDuration } from '../../../model/index.ts'
import type { PastApplies } from '../../../report/html/index.ts'
import { type AgentControl, suspend } from '../../control.ts'
import type { PastApply } from '../../data-folder.ts'

export const pageOf = (text: string | undefined): number => (/^[1-9]\d{0,5}$/.test(text ?? '') ? Number(text) : 1)

const APPLIES_PER_PAGE = 50

export const pastApplies = (all: readonly PastApply[], page: string | undefined): PastApplies => {
  const pages = Math.max(1, Math.ceil(all.length / APPLIES_PER_PAGE))
  const shown = Math.min(pages, pageOf(page))
  return { applies: all.slice((shown - 1) * APPLIES_PER_PAGE, shown * APPLIES_PER_PAGE), page: shown, pages }
}

const MAX_BODY_BYTES = 1024 * 1024

const SUSPENSION = z.strictObject({ for: z.string(), reason: z.string().max(1_000) })
const RECONCILE = z.strictObject({ accept: z.string().max(200).optional() })
const ADOPTION = z.strictObject({
  commit: z.string().max(200),
  differences: z.array(
    z.strictObject({
      compute: z.string(),
      path: z.string().optional(),
      live: z.string().nullable(),
      want: z.string().nullable(),
    }),
  ),
})

export type OpenStream = (authorization: string) => ReadableStream<Uint8Array> | undefined

export const apiRoutes = (control: AgentControl, openStream: OpenStream, now: () => number): Hono => {
  const app = new Hono()
  app.onError((error, context) => {
    if (error instanceof NotDeclared) return refuse(context, 404, error)
    if (error instanceof EspalierError) return refuse(context, 400, error)
    if (error instanceof TooLongError) return refuse(context, 413, tooLarge(error))
    throw error
  })
  app.get('/projects', (context) => json(context, control.view()))
  app.get('/projects/:id', (context) => json(context, projectOf(control, context.req.param('id'))))
  app.get('/projects/:id/history', async (context) => {
    const { id } = projectOf(control, context.req.param('id'))
    return json(context, pastApplies(await control.historyOf(id), context.req.query('page')))
  })
  app.get('/events', (context) => {
    const stream = openStream(context.req.header('authorization') ?? '')
    return stream === undefined
      ? context.text('Too many clients are connected to the event stream.\n', 503)
      : context.body(stream, 200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
  })
  for (const [path, all] of [
    ['', true],
    ['/projects/:id', false],
  ] as const) {
    const chosen = (context: Context): readonly string[] | 'all' =>
      all ? 'all' : [projectOf(control, context.req.param('id') ?? '').id]
    app.post(`${path}/reconcile`, async (context) => {
      const projects = chosen(context)
      const { accept } = await bodyOf(context, RECONCILE)
      await control.reconcile(projects, accept)
      return json(context, {}, 202)
    })
    app.put(`${path}/suspension`, async (context) => {
      const projects = chosen(context)
      const { for: length, reason } = await bodyOf(context, SUSPENSION)
      const { until } = suspend(now(), secondsOf(length) * 1_000, reason)
      await control.suspend(projects, until, reason)
      return json(context, { until: new Date(until).toISOString() })
    })
    app.delete(`${path}/suspension`, async (context) => {
      await control.resume(chosen(context))
      return json(context, {})
    })
  }
  app.post('/projects/:id/adoption', async (context) => {
    const { id } = projectOf(control, context.req.param('id'))
    const { commit, differences } = await bodyOf(context, ADOPTION)
    await control.adopt(id, commit, differences)
    return json(context, {}, 202)
  })
  // `notFound` of an app that is mounted in another one is not called.
  app.all('*', (context) =>
    refuse(
      context,
      404,
      new EspalierError('E_USAGE', `${context.req.method} ${context.req.path} is not part of the API.`),
    ),
  )
  return app
}

const secondsOf = (length: string): number => {
  const seconds = parseDuration(length)
  if (seconds !== undefined && seconds > 0) return seconds
  throw new EspalierError('E_USAGE', `${JSON.stringify(length)} is not a valid duration.`, {
    hint: 'Write, for example, 30m, 2h or 1d.',
  })
}

class NotDeclared extends EspalierError {}

const projectOf = (control: AgentControl, id: string) => {
  const project = control.view().projects.find((one) => one.id === id)
  if (project === undefined) {
    throw new NotDeclared('E_USAGE', `No manifest that the agent reads declares project ${id}.`, {
      hint: '`espalier agent status` lists the declared projects.',
    })
  }
  return project
}

const bodyOf = async <T>(context: Context, shape: z.ZodType<T>): Promise<T> => {
  const { body } = context.req.raw
  const text = body === null ? '' : await readBounded(body, MAX_BODY_BYTES)
  const { data, error } = shape.safeParse(text === '' ? {} : jsonOf(text))
  if (error === undefined) return data
  throw new EspalierError('E_USAGE', `The request body is invalid: ${issueAt(error.issues[0], 'it')}.`)
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new EspalierError('E_USAGE', 'The request body is not JSON.')
  }
}

const tooLarge = (cause: TooLongError): EspalierError =>
  new EspalierError('E_USAGE', `The request body is too large: ${cause.message}.`)

const json = (context: Context, value: unknown, status: 200 | 202 = 200): Response =>
  context.body(plainJson(value), status, { 'content-type': 'application/json' })

const refuse = (context: Context, status: 400 | 404 | 413, { code, message, hint }: EspalierError): Response =>
  context.body(plainJson({ error: { code, message, hint } }), status, { 'content-type': 'application/json' })
