/** The service's own OpenAPI description, as its client from npm carries it: what clients were generated from. */
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import { OPERATIONS } from '../sandbox/openapi.ts'

interface OfficialOperation {
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json'?: { schema: object } } }>
  >
}

const document = parse(readFileSync('node_modules/@neondatabase/api-client/public-v2-for-users.gen.yaml', 'utf8'), {
  maxAliasCount: -1,
}) as { readonly paths: Readonly<Record<string, Readonly<Record<string, OfficialOperation>>>> }

const ajv = new Ajv({ strict: false, allErrors: true, formats: { int: true } })
addFormats.default(ajv)
ajv.addSchema({ $id: 'official', ...document })
const validators = new Map<string, ValidateFunction>()

const operationAt = (method: string, path: string) => {
  const [best] = OPERATIONS.filter(
    (candidate) =>
      candidate.method === method && new RegExp(`^${candidate.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  ).sort((a, b) => a.path.split('{').length - b.path.split('{').length)
  if (best === undefined) throw new Error(`${method} ${path} is no route of the sandbox`)
  return best
}

export const operationIdOf = (method: string, path: string): string => operationAt(method, path).operation.operationId

/** Where an answer of the sandbox is not what the service describes; empty where it is. */
export const unofficial = (method: string, path: string, status: number, answer: unknown): readonly string[] => {
  const { path: template } = operationAt(method, path)
  const official = document.paths[template]?.[method.toLowerCase()]?.responses[String(status)]
  if (official === undefined) return [`${method} ${template} does not answer ${status}`]
  const schema = official.content?.['application/json']?.schema
  if (schema === undefined) return []
  const key = `${method} ${template} ${status}`
  const validate =
    validators.get(key) ?? ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"official#/')))
  validators.set(key, validate)
  if (validate(answer)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${key}: ${instancePath} ${message}`)
}
