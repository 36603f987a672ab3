/** Compares the sandbox's responses with what the service answered to the same requests (recorded-answers.yaml). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { openSandbox } from './open-sandbox.ts'

interface Recorded {
  readonly status: number
  /** The names of the fields by their type, for the path of each object. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The values of a field that occurs once per object, for some fields. */
  readonly values?: Readonly<Record<string, readonly unknown[]>>
}

const { routes, differences } = parse(readFileSync('test/sandbox/recorded-answers.yaml', 'utf8'), { merge: true }) as {
  readonly routes: Readonly<Record<string, Recorded>>
  /** Reasons, by a pattern for differences as `differencesOf` writes them. */
  readonly differences: Readonly<Record<string, string>>
}

const typeOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (typeof value !== 'string') return typeof value
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) ? 'time' : 'string'
}

/** All objects at a path such as `endpoints[].settings`. */
const at = (answer: unknown, path: string): readonly unknown[] =>
  path
    .split(/\.|(?=\[\])/)
    .filter((name) => name !== '')
    .reduce<readonly unknown[]>(
      (found, name) =>
        found.flatMap((one) =>
          name === '[]' ? (one as readonly unknown[]) : ((one as Record<string, unknown> | undefined)?.[name] ?? []),
        ),
      [answer],
    )

const differencesOf = (recorded: Recorded, status: number, answer: unknown): readonly string[] => {
  const found: string[] = status === recorded.status ? [] : [`status ${status}`]
  for (const [path, byType] of Object.entries(recorded.fields)) {
    const types = new Map(
      Object.entries(byType).flatMap(([type, names]) => names.split(', ').map((name) => [name, type] as const)),
    )
    for (const object of at(answer, path) as readonly Readonly<Record<string, unknown>>[]) {
      for (const [name, type] of types) {
        const value = object[name.replace('?', '')]
        if (value === undefined) found.push(...(name.endsWith('?') ? [] : [`lacks ${path}.${name}`]))
        else if (typeOf(value) !== type) found.push(`${path}.${name} is ${typeOf(value)}, was ${type}`)
      }
      for (const name of Object.keys(object)) {
        if (!types.has(name) && !types.has(`${name}?`)) found.push(`adds ${path}.${name}`)
      }
    }
  }
  for (const [path, values] of Object.entries(recorded.values ?? {})) {
    const shown = at(answer, path)
    if (JSON.stringify(shown) !== JSON.stringify(values)) found.push(`${path} is ${JSON.stringify(shown)}`)
  }
  return found.map((one) => one.replace(/(?<= )\./, ''))
}

test('the sandbox answers the recorded requests as the service did, except for listed differences', async () => {
  const { call } = await openSandbox({ seed: { projects: [] } })
  const found = new Set<string>()
  const ids: Record<string, string> = {}
  for (const [route, recorded] of Object.entries(routes)) {
    const [method = '', template = ''] = route.split(' ')
    const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? name)
    const query = path.endsWith('/connection_uri') ? '?database_name=neondb&role_name=neondb_owner&pooled=True' : ''
    const { status, body } = await call(method, `${path}${query}`, BODIES[route])
    if (route === 'POST /api_keys') ids.key_id = String(body.id)
    if (route === 'POST /projects') {
      ids.project_id = body.project.id
      ids.branch_id = body.branch.id
      ids.endpoint_id = body.endpoints[0].id
      ids.operation_id = body.operations[1].id
      ids.role_name = body.roles[0].name
    }
    for (const difference of differencesOf(recorded, status, body)) found.add(`${route}: ${difference}`)
  }
  const listed = Object.keys(differences)
  expect([...found].filter((one) => !listed.some((pattern) => matchesGlob(pattern, one)))).toEqual([])
  expect(listed.filter((pattern) => ![...found].some((one) => matchesGlob(pattern, one)))).toEqual([])
})

const matchesGlob = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.split('*').map(escapeRegExp).join('.*')}$`).test(text)
const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

const BODIES: Readonly<Record<string, object>> = {
  'POST /api_keys': { key_name: 'pytest-1' },
  'POST /projects': { project: { name: 'pytest-2' } },
  'PATCH /projects/{project_id}': { project: { name: 'pytest-3' } },
}
