/** The service's own OpenAPI description: what its clients were generated from. */
import { createRequire } from 'node:module'
import type { ValidateFunction } from 'ajv'

interface OfficialRoute {
  readonly method: string
  /** With `{…}` for each parameter. */
  readonly path: string
  readonly operationId: string
  /** By status of success: the name of the validator; empty if the answer has no body. */
  readonly validators: Readonly<Record<string, string>>
}

const compiled = createRequire(import.meta.url)(process.env.ESPALIER_OFFICIAL_API ?? '') as {
  readonly routes: readonly OfficialRoute[]
} & Readonly<Record<string, ValidateFunction>>

/** Every route of the service. */
export const OFFICIAL = compiled.routes.map((route) => ({
  ...route,
  pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

const routeOf = (method: string, path: string) =>
  OFFICIAL.filter((route) => route.method === method && route.pattern.test(path)).sort(
    (a, b) => a.path.split('{').length - b.path.split('{').length,
  )[0]

export const operationIdOf = (method: string, path: string): string => {
  const route = routeOf(method, path)
  if (route === undefined) throw new Error(`${method} ${path} is not a route of the service`)
  return route.operationId
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
  const validator = status >= 400 ? 'refusal' : route.validators[status]
  if (validator === undefined) return [`${key} is not described`]
  const validate = compiled[validator]
  if (validate === undefined || validate(answer)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${key}: ${instancePath} ${message}`)
}
