/**
 * Random valid and invalid requests, in any order, derived from the OpenAPI document that the sandbox serves. No response
 * is a server error or undocumented, and no undocumented request is accepted.
 */
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { manualClock, type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { openReal } from '../e2e/real-computes.ts'
import { SEED } from '../sandbox/open-sandbox.ts'
import { DOCUMENT, OPERATIONS, queryOf, undocumented } from '../sandbox/openapi.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly maxProperties?: number
  readonly items?: Schema
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

const resolved = ({ $ref, ...rest }: Schema): Schema =>
  $ref === undefined ? rest : { ...resolved(DOCUMENT.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}), ...rest }

/** Values that match a schema. */
const allowed = (given: Schema): fc.Arbitrary<unknown> => {
  const schema = resolved(given)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const either = schema.oneOf ?? schema.anyOf
  if (either !== undefined) return fc.oneof(...either.map((one) => allowed({ type: schema.type, ...one } as Schema)))
  if (schema.allOf !== undefined) {
    return fc.tuple(...schema.allOf.map(allowed)).map((parts) => Object.assign({}, ...parts))
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['object'])
  return fc.oneof(...types.map((type) => ofType(type, schema)))
}

const ofType = (type: string, schema: Schema): fc.Arbitrary<unknown> => {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -5, max: schema.maximum ?? 1_000 })
    case 'number':
      return fc.double({ min: schema.minimum ?? -5, max: schema.maximum ?? 1_000, noNaN: true })
    case 'array':
      return fc.array(allowed(schema.items ?? {}), { maxLength: 3 })
    case 'string':
      return text(schema)
    default:
      return object(schema)
  }
}

const text = ({ pattern, format, minLength = 0, maxLength = 80 }: Schema): fc.Arbitrary<string> => {
  if (pattern !== undefined) {
    const expression = new RegExp(pattern)
    // fast-check does not support lookaheads.
    if (pattern.includes('(?')) return fc.stringMatching(/^[a-z_]{1,12}$/).filter((made) => expression.test(made))
    return fc.stringMatching(expression)
  }
  if (format === 'date-time') {
    // Around the sandbox's own time, so that some are in its past and some in its future.
    return fc
      .date({ min: new Date('2025-12-01'), max: new Date('2026-03-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
  }
  return fc.oneof(
    fc.constantFrom('main', 'neondb', 'neondb_owner', 'a'.repeat(Math.max(1, minLength))),
    fc.string({ minLength, maxLength }),
  )
}

const object = ({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> => {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, allowed(schema)])),
    { requiredKeys: [...required] },
  )
  if (typeof additionalProperties !== 'object') return known
  return fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), allowed(additionalProperties), { maxKeys: 3 })
}

/** Values that do not match a schema, or match it except for one part. */
const spoiled = (schema: Schema): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.jsonValue(),
    fc.tuple(allowed(schema), fc.nat(), fc.jsonValue()).map(([value, place, other]) => replaceAt(value, place, other)),
  )

const replaceAt = (value: unknown, place: number, other: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return other
  const keys = Object.keys(value)
  const key = keys[place % keys.length] ?? ''
  const inner: unknown = Reflect.get(value, key)
  const changed = place % 3 === 0 ? other : replaceAt(inner, Math.floor(place / 3), other)
  return Array.isArray(value)
    ? value.map((item, index) => (String(index) === key ? changed : item))
    : { ...value, [key]: changed }
}

interface RandomRequest {
  readonly method: string
  readonly template: string
  /** For each placeholder: the index of an existing id, or a string to use as is. */
  readonly ids: readonly (number | string)[]
  readonly query: string
  readonly body: unknown
}

/** Requests with a body, which exercise most of the code. */
const CHANGES = OPERATIONS.filter(({ operation }) => operation.requestBody !== undefined)

const requests: fc.Arbitrary<RandomRequest> = fc
  .constantFrom(...OPERATIONS, ...CHANGES, ...CHANGES)
  .chain(({ method, path, operation }) => {
    const schema = operation.requestBody?.content?.['application/json']?.schema
    const parameters = queryOf(operation)
    const values = parameters.map(({ name, schema: of }) =>
      fc
        .option(fc.oneof({ weight: 3, arbitrary: allowed(of as Schema) }, fc.string({ maxLength: 12 })), {
          nil: undefined,
        })
        .map((value) => (value === undefined ? [] : [[name, String(value)] as [string, string]])),
    )
    return fc.record({
      method: fc.constant(method),
      template: fc.constant(path),
      ids: fc.array(fc.oneof({ weight: 15, arbitrary: fc.nat(1_000) }, fc.string({ minLength: 1, maxLength: 12 })), {
        minLength: 4,
        maxLength: 4,
      }),
      query: fc.tuple(...values).map((pairs) => new URLSearchParams(pairs.flat()).toString()),
      body:
        schema === undefined
          ? fc.constant(undefined)
          : fc.oneof({ weight: 3, arbitrary: allowed(schema as Schema) }, spoiled(schema as Schema)),
    })
  })

/**
 * Existing ids for a placeholder. Only deleted projects can be recovered, and only others can be used.
 *
 * @param project the project earlier in the path.
 */
const idsIn = (sandbox: Sandbox, name: string, project: string, template: string): readonly string[] => {
  const isDeleted = template.endsWith('/recover')
  const records = sandbox.control
    .dump()
    .changes.flatMap((change) => ('put' in change ? [change.put] : []))
    .filter((record) =>
      record.kind === 'project'
        ? (record.deletedAt !== undefined) === isDeleted
        : 'projectId' in record && record.projectId === project,
    )
  const of = (kind: string) => records.filter((record) => record.kind === kind).map(({ id }) => id)
  switch (name) {
    case 'project_id':
      return of('project')
    case 'branch_id':
      return of('branch')
    case 'endpoint_id':
      return of('compute')
    case 'operation_id':
      return of('operation')
    case 'role_name':
      return ['neondb_owner', 'sally']
    case 'database_name':
      return ['neondb', 'main']
    default:
      return ['org-acme', '1']
  }
}

/** Sends a request, and checks the response. */
const send = async (sandbox: Sandbox, { method, template, ids, query, body }: RandomRequest): Promise<number> => {
  let place = 0
  let project = ''
  const bare = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const id = ids[place++ % ids.length] ?? 0
    const there = idsIn(sandbox, name, project, template)
    // URLs drop segments that consist of dots.
    const chosen = typeof id === 'string' ? `x${id}` : (there[id % Math.max(1, there.length)] ?? 'none')
    if (name === 'project_id') project = chosen
    return encodeURIComponent(chosen)
  })
  const path = query === '' ? bare : `${bare}?${query}`
  const response = await fetch(`${sandbox.apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const content = await response.text()
  const answered: unknown = content === '' ? undefined : JSON.parse(content)
  const { status } = response
  const what = `${method} ${path} ${JSON.stringify(body)} ${status} ${content}`
  // Schemas need Postgres and pg_dump, which the sandbox may not have.
  if (!/schema$/.test(bare)) expect(status, what).toBeLessThan(500)
  expect(undocumented({ method, path, sent: body, status, answered }), what).toEqual([])
  return status
}

/** Counts the responses by status. */
const counter = () => {
  const counts = new Map<number, number>()
  return {
    note: (status: number) => void counts.set(status, (counts.get(status) ?? 0) + 1),
    /** Otherwise, the requests would not have been effective. */
    expectAll: (...statuses: readonly number[]) => {
      for (const status of statuses) expect(counts.get(status) ?? 0, String(status)).toBeGreaterThan(10)
    },
  }
}

test('random requests neither crash the sandbox nor violate its OpenAPI document', async () => {
  const { note, expectAll } = counter()
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 5, maxLength: 25 }), async (sequence) => {
      const clock = manualClock()
      const sandbox = await startSandbox({ clock, seed: SEED })
      try {
        for (const request of sequence) {
          note(await send(sandbox, request))
          await clock.advance(10_000)
        }
      } finally {
        await sandbox.close()
      }
    }),
    { numRuns: 200 },
  )
  expectAll(200, 201, 400, 404, 422)
})

/** What keeps happening to computes while random requests are sent. */
const CHURN: readonly Pick<RandomRequest, 'method' | 'template' | 'body'>[] = [
  ...['restart', 'suspend', 'start'].map((action) => ({
    method: 'POST',
    template: `/projects/{project_id}/endpoints/{endpoint_id}/${action}`,
    body: undefined,
  })),
  ...[0.5, 1].map((size) => ({
    method: 'PATCH',
    template: '/projects/{project_id}/endpoints/{endpoint_id}',
    body: { endpoint: { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size } },
  })),
  { method: 'DELETE', template: '/projects/{project_id}/endpoints/{endpoint_id}', body: undefined },
  {
    method: 'POST',
    template: '/projects/{project_id}/branches',
    body: { endpoints: [{ type: 'read_write', suspend_timeout_seconds: 60 }] },
  },
]
const READS = ['roles', 'databases', 'roles/{role_name}/reveal_password'].map((list) => ({
  method: 'GET',
  template: `/projects/{project_id}/branches/{branch_id}/${list}`,
  body: undefined,
}))
const churn: fc.Arbitrary<RandomRequest> = fc
  .record({
    request: fc.oneof(fc.constantFrom(...CHURN), fc.constantFrom(...READS)),
    ids: fc.array(fc.nat(1_000), { minLength: 4, maxLength: 4 }),
  })
  .map(({ request, ids }) => ({ ...request, ids, query: '' }))

const REQUESTS_PER_SANDBOX = 250
/** For example `ESPALIER_RANDOM_REQUESTS=5000,7`: how many requests to send, and the seed. */
const [MANY = 500, ...SEEDS] = (process.env.ESPALIER_RANDOM_REQUESTS ?? '500').split(',').map(Number)

test('random requests cause no server error while real computes restart, are resized, sleep and are deleted', async () => {
  const { note, expectAll } = counter()
  const computes = (project: string) =>
    (['active', 'idle'] as const).map((state) => ({
      name: state,
      computes: [
        { id: `ep-${project}-${state}`, state, scaleToZero: '1m' },
        { id: `ep-${project}-${state}-ro`, type: 'read_only' as const, state: 'idle' as const },
      ],
    }))
  const seed = { projects: ['one', 'two', 'three', 'four'].map((id) => ({ id, branches: computes(id) })) }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(requests, churn), { minLength: REQUESTS_PER_SANDBOX, maxLength: REQUESTS_PER_SANDBOX }),
      async (sequence) => {
        // Computes fall asleep after one second of real time.
        const sandbox = await openReal({ seed, timeScale: 60 })
        const left = [...sequence]
        const client = async (): Promise<void> => {
          for (let next = left.pop(); next !== undefined; next = left.pop()) {
            let status = await send(sandbox, next)
            // Like any client, waits while the project is locked, but not for an operation that keeps failing.
            for (let tries = 0; status === 423 && tries < 20; tries += 1) {
              await setTimeout(50)
              status = await send(sandbox, next)
            }
            note(status)
          }
        }
        try {
          await Promise.all(Array.from({ length: 4 }, client))
        } finally {
          await sandbox.close()
        }
      },
    ),
    { numRuns: MANY / REQUESTS_PER_SANDBOX, endOnFailure: true, ...(SEEDS[0] === undefined ? {} : { seed: SEEDS[0] }) },
  )
  expectAll(200, 201, 404)
})
