/**
 * Compiles the service's OpenAPI document, which its npm client contains, to response validators. This takes seconds,
 * so the result is cached for each client version.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const DESCRIPTION = 'node_modules/@neondatabase/api-client/public-v2-for-users.gen.yaml'
const CACHE = 'node_modules/.cache/espalier'
const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])

interface OfficialOperation {
  readonly operationId: string
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json'?: { schema: object } } }>
  >
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OfficialOperation>>>>
}

/** Sets `ESPALIER_OFFICIAL_API` to the module that contains the routes and their validators. */
export default async function compileOfficial(): Promise<void> {
  const text = readFileSync(DESCRIPTION)
  const key = createHash('sha256')
    .update(text)
    .update(readFileSync(import.meta.filename))
    .digest('hex')
    .slice(0, 16)
  const file = join(process.cwd(), CACHE, `official-api-${key}.cjs`)
  process.env.ESPALIER_OFFICIAL_API = file
  if (existsSync(file)) return
  mkdirSync(join(process.cwd(), CACHE), { recursive: true })
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, await compiled(text.toString()))
  renameSync(unfinished, file)
}

const compiled = async (text: string): Promise<string> => {
  const [{ parse }, { Ajv }, formats, standalone] = await Promise.all([
    import('yaml'),
    import('ajv'),
    import('ajv-formats'),
    import('ajv/dist/standalone/index.js'),
  ])
  const description = parse(text, { maxAliasCount: -1 }) as Description
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    formats: { int: true, uint64: true },
    code: { source: true },
  })
  formats.default.default(ajv)
  ajv.addSchema({ $id: 'official', ...description })
  ajv.addSchema({ $id: 'refusal', $ref: 'official#/components/schemas/GeneralError' })
  const ids: Record<string, string> = { refusal: 'refusal' }
  const routes = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, { operationId, responses }]) => {
        const validators: Record<string, string> = {}
        for (const [status, { content }] of Object.entries(responses)) {
          if (!/^2/.test(status)) continue
          const schema = content?.['application/json']?.schema
          const id = `${operationId}_${status}`
          validators[status] = schema === undefined ? '' : id
          if (schema === undefined) continue
          ajv.addSchema({ $id: id, ...JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"official#/')) })
          ids[id] = id
        }
        return { method: method.toUpperCase(), path, operationId, validators }
      }),
  )
  const generate = standalone.default.default ?? standalone.default
  return `${generate(ajv, ids)}\nexports.routes = ${JSON.stringify(routes)}\n`
}
