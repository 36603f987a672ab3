/** The service's own OpenAPI document, from which its clients are generated. */
import { createRequire } from 'node:module'
import type { ValidateFunction } from 'ajv'

interface OfficialRoute {
  readonly method: string
  /** With `{…}` for each parameter. */
  readonly path: string
  readonly operationId: string
  /** Name of the response validator by success status; empty if the response has no body. */
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

/** A path without parameters takes precedence over one with parameters. */
const byParameters = OFFICIAL.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)

const routeOf = (method: string, path: string) =>
  byParameters.find((route) => route.method === method && route.pattern.test(path))

export const operationIdOf = (method: string, path: string): string => {
  const route = routeOf(method, path)
  if (route === undefined) throw new Error(`${method} ${path} is not a route of the service`)
  return route.operationId
}

/**
 * Differences between a response and the service's description; empty if there are none.
 *
 * @param path below the API root, without the query.
 */
export const unofficial = (method: string, path: string, status: number, answer: unknown): readonly string[] => {
  const route = routeOf(method, path)
  if (route === undefined)
    return status >= 400 ? [] : [`${method} ${path} returns ${status}, but the service has no such route`]
  const key = `${method} ${route.path} ${status}`
  const validator = status >= 400 ? 'refusal' : route.validators[status]
  if (validator === undefined) return [`${key} is not described`]
  const validate = compiled[validator]
  if (validate === undefined || validate(answer)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${key}: ${instancePath} ${message}`)
}
