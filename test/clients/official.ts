/** The service's own OpenAPI description, as its client from npm carries it: what clients were generated from. */
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'

interface OfficialOperation {
  readonly operationId: string
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json'?: { schema: object } } }>
  >
}

const document = parse(readFileSync('node_modules/@neondatabase/api-client/public-v2-for-users.gen.yaml', 'utf8'), {
  maxAliasCount: -1,
}) as { readonly paths: Readonly<Record<string, Readonly<Record<string, OfficialOperation>>>> }

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** Every route of the service: method, path with `{…}`, operation. */
export const OFFICIAL = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => METHODS.has(method))
    .map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    })),
)

const ajv = new Ajv({ strict: false, allErrors: true, formats: { int: true } })
addFormats.default(ajv)
ajv.addSchema({ $id: 'official', ...document })
const validators = new Map<string, ValidateFunction>()
const validatorOf = (key: string, schema: object): ValidateFunction => {
  const known = validators.get(key)
  if (known !== undefined) return known
  const made = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"official#/')))
  validators.set(key, made)
  return made
}

const routeOf = (method: string, path: string) =>
  OFFICIAL.filter((route) => route.method === method && route.pattern.test(path)).sort(
    (a, b) => a.path.split('{').length - b.path.split('{').length,
  )[0]

export const operationIdOf = (method: string, path: string): string => {
  const route = routeOf(method, path)
  if (route === undefined) throw new Error(`${method} ${path} is not a route of the service`)
  return route.operation.operationId
}

/**
 * Where an answer is not what the service describes; empty where it is.
 *
 * @param path below the API's root, without its query.
 */
export const unofficial = (method: string, path: string, status: number, answer: unknown): readonly string[] => {
  const route = routeOf(method, path)
  if (route === undefined) return status >= 400 ? [] : [`${method} ${path} answers ${status}, and no service has it`]
  const key = `${method} ${route.path} ${status}`
  const schema =
    status >= 400
      ? { $ref: '#/components/schemas/GeneralError' }
      : route.operation.responses[String(status)]?.content?.['application/json']?.schema
  if (schema === undefined) {
    return route.operation.responses[String(status)] === undefined ? [`${key} is not described`] : []
  }
  const validate = validatorOf(key, schema)
  if (validate(answer)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${key}: ${instancePath} ${message}`)
}
