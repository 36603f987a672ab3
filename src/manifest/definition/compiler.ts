/** Compiles the definitions to code at build time, to save time at start-up. */
import { _, type CodeKeywordDefinition } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import type { JsonSchema } from '../../base/index.ts'
import { SIZE_TABLE } from '../../model/index.ts'
import { documentSchema, SHAREABLE_KEYS, sharedFileSchema } from './manifest.ts'
import { POLICY_SCHEMA } from './policy.ts'

/** A compiler with these schemas: `document`, `shared`, `policies`. */
export const createCompiler = (): Ajv2020 => {
  const ajv = new Ajv2020({
    allErrors: true,
    // Adds the schema to each error, because the message is derived from it.
    verbose: true,
    inlineRefs: false,
    code: { source: true, esm: true },
    keywords: [SIZE_RANGE_KEYWORD],
  })
  // No definition uses these keywords, and their bookkeeping would be a third of the code.
  Object.assign(ajv.opts, { unevaluated: false, dynamicRef: false })
  // A schema that is registered separately is compiled only once.
  const addOnce = (id: string, schema: JsonSchema): void => {
    if (ajv.schemas[id] === undefined) ajv.addSchema(compactSchema(schema), id)
  }
  const add = (name: string, { $defs, ...schema }: JsonSchema): void => {
    addOnce(name, schema)
    for (const [id, definition] of Object.entries($defs ?? {})) addOnce(`${DEFINITION}${id}`, definition)
  }
  for (const [name, schema] of [
    ['document', documentSchema()],
    ['shared', sharedFileSchema()],
  ] as const) {
    const properties: Record<string, JsonSchema> = { ...(schema.properties as object) }
    for (const key of SHAREABLE_KEYS) {
      addOnce(`property:${key}`, properties[key] ?? {})
      properties[key] = { $ref: `property:${key}` }
    }
    add(name, { ...schema, properties })
  }
  add('policies', POLICY_SCHEMA)
  return ajv
}

/** The limits of `{ min, max }`. Enumerated ranges would be a third of the validator's code. Errors are reported at `max`. */
const SIZE_RANGE_KEYWORD: CodeKeywordDefinition = {
  keyword: 'sizeRange',
  type: 'object',
  schemaType: 'boolean',
  code: (cxt) => {
    const { autoscalingMaxCu, maxSpreadCu } = SIZE_TABLE
    const [min, max] = [_`${cxt.data}.min`, _`${cxt.data}.max`]
    const isRange = _`${max} > ${min} && ${max} <= ${autoscalingMaxCu} && ${max} - ${min} <= ${maxSpreadCu}`
    const areNumbers = _`typeof ${min} === "number" && typeof ${max} === "number"`
    cxt.gen.if(_`${areNumbers} && ${min} !== ${max} && !(${isRange})`, () =>
      cxt.error(false, {}, { instancePath: cxt.gen.const('key', _`"max"`) }),
    )
  },
}

const DEFINITION = 'definition:'

const ANNOTATIONS = ['$schema', '$id', 'title', 'description']

/** The schema as it is compiled: references to registered definitions, and no text that messages do not use. */
const compactSchema = (schema: JsonSchema): JsonSchema =>
  JSON.parse(
    // A property may also be called `title`, but its value is a schema, not a string.
    JSON.stringify(schema, (key, value: unknown) =>
      ANNOTATIONS.includes(key) && typeof value === 'string' ? undefined : value,
    ).replaceAll('"#/$defs/', `"${DEFINITION}`),
  ) as JsonSchema

/** ajv's code uses `require` for a small helper. ES modules and bundlers need an import instead. */
const LENGTH = 'ajv/dist/runtime/ucs2length'

const withImport = (code: string): string => {
  // Depending on the loader, an import is the module or its default export.
  const imported = `import ajvLengthModule from '${LENGTH}.js'\nconst ajvLength = { default: ajvLengthModule.default ?? ajvLengthModule }\n`
  return `${imported}${code.replaceAll(`require("${LENGTH}")`, 'ajvLength')}`
}

/** Source code of an ES module that exports a validator for each schema, and the keys that are allowed in shared files. */
export const standaloneValidators = (): string => {
  const ajv = createCompiler()
  const generate = standalone.default ?? standalone
  const code = generate(ajv, { document: 'document', shared: 'shared', policies: 'policies' })
  return `${withImport(shortened(code))}\nexport const shareableKeys = ${JSON.stringify(SHAREABLE_KEYS)}\n`
}

/**
 * Shortens the code that adds an error, because it occurs hundreds of times, and leaves out the schema's path, the
 * keyword's value and the invalid value, which nothing reads.
 */
const shortened = (code: string): string =>
  code
    .replaceAll(
      /if\(vErrors === null\)\{vErrors = \[(err\d+)\];\}else \{vErrors\.push\(\1\);\}/g,
      '(vErrors ??= []).push($1);',
    )
    .replaceAll(/schemaPath:"[^"]*",/g, '')
    .replaceAll(/,schema:("(\\.|[^"\\])*"|[^{},]+)(?=,parentSchema:)/g, '')
    .replaceAll(/(,parentSchema:[\w.[\]"]+),data(:\w+)?(?=\};)/g, '$1')
