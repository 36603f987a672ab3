/** Checks requests and responses against schemas/control-api.openapi.yaml. */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'

interface MediaTypes {
  readonly content?: { readonly 'application/json'?: { readonly schema: object } }
  readonly $ref?: string
}
interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly required?: boolean
  readonly schema: { readonly type?: string }
  readonly $ref?: string
}
interface OpenApiOperation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: MediaTypes
  readonly responses: Readonly<Record<string, MediaTypes>>
}
type PathItem = Readonly<Record<string, OpenApiOperation>>

export const DOCUMENT = parse(readFileSync('schemas/control-api.openapi.yaml', 'utf8')) as {
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly responses: Readonly<Record<string, MediaTypes>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly schemas: Readonly<Record<string, object>>
  }
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** All operations: method, path with `{…}` for each parameter, and definition. */
export const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => METHODS.has(method))
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

// `openapi.test.ts` checks the schemas themselves.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, code: { optimize: false } })
addFormats.default(ajv)
ajv.addSchema({ $id: 'api', ...DOCUMENT })
const validators = new Map<object, ValidateFunction>()

/** The schemas contain pointers into the document, so they are compiled under its id. */
const validatorOf = (schema: object): ValidateFunction => {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const pointed = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'))
  const made = ajv.compile(pointed)
  validators.set(schema, made)
  return made
}

const resolve = (media: MediaTypes): MediaTypes =>
  media.$ref === undefined ? media : (DOCUMENT.components.responses[media.$ref.split('/').at(-1) ?? ''] ?? media)

/** A path without parameters takes precedence over one with parameters (OpenAPI specification). */
const byParameters = OPERATIONS.map((one) => ({
  ...one,
  pattern: new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
})).sort((a, b) => a.path.split('{').length - b.path.split('{').length)

const find = (method: string, path: string) =>
  byParameters.find((one) => one.method === method && one.pattern.test(path))?.operation

export interface Exchange {
  readonly method: string
  /** Below the API root, with the query. */
  readonly path: string
  readonly sent: unknown
  readonly status: number
  readonly answered: unknown
}

/** Differences between an exchange and the document; empty if there are none. */
export const undocumented = ({ method, path, sent, status, answered }: Exchange): readonly string[] => {
  const [bare = '', query = ''] = path.split('?')
  const operation = find(method, bare)
  const isRefusal = status >= 400
  if (operation === undefined) return isRefusal ? [] : [`${method} ${bare} is not in the document`]
  const media = operation.responses[String(status)] ?? (isRefusal ? operation.responses.default : undefined)
  if (media === undefined) return [`${operation.operationId} answers ${status}, which is not in the document`]
  const problems: string[] = []
  const schema = resolve(media).content?.['application/json']?.schema
  if (schema === undefined) {
    if (answered !== undefined) problems.push(`${operation.operationId} ${status} has a body`)
  } else problems.push(...check(schema, answered, `answer of ${operation.operationId}`))
  const asked = operation.requestBody?.content?.['application/json']?.schema
  if (!isRefusal && asked !== undefined && sent !== undefined) {
    problems.push(...check(asked, sent, `request of ${operation.operationId}`))
  }
  if (!isRefusal) problems.push(...checkQuery(operation, new URLSearchParams(query)))
  return problems
}

/** Query parameters of an operation. */
export const queryOf = ({ parameters = [] }: Pick<OpenApiOperation, 'parameters'>): readonly Parameter[] =>
  parameters
    .map((parameter) =>
      parameter.$ref === undefined
        ? parameter
        : (DOCUMENT.components.parameters[parameter.$ref.split('/').at(-1) ?? ''] ?? parameter),
    )
    .filter((parameter) => parameter.in === 'query')

const checkQuery = (operation: OpenApiOperation, query: URLSearchParams): readonly string[] =>
  queryOf(operation).flatMap(({ name, required, schema }) => {
    const text = query.get(name)
    const what = `parameter ${name} of ${operation.operationId}`
    if (text === null) return required === true ? [`${what} is left out`] : []
    return check(schema, readAs(text, schema.type), what)
  })

/** Converts a query parameter to its schema's type, if possible. */
const readAs = (text: string, type: string | undefined): unknown => {
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  return text
}

const check = (schema: object, value: unknown, what: string): readonly string[] => {
  const validate = validatorOf(schema)
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what}: ${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
