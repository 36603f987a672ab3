/** The schema compiled to code, so that starting up does not have to. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import type { SizeTable } from '../../model/index.ts'
import { manifestSchema } from './manifest-schema.ts'

/** ajv refers to two small helpers of its own by `require`, which an ES module does not have; bundlers want imports. */
const HELPERS = {
  'ajv/dist/runtime/equal': 'ajvEqual',
  'ajv/dist/runtime/ucs2length': 'ajvLength',
} as const

const withImports = (code: string): string => {
  // Some loaders give the module, others what it exports by default.
  const imports = Object.entries(HELPERS).map(
    ([path, name]) =>
      `import ${name}Module from '${path}.js'\nconst ${name} = { default: ${name}Module.default ?? ${name}Module }\n`,
  )
  const linked = Object.entries(HELPERS).reduce(
    (text, [path, name]) => text.replaceAll(`require("${path}")`, name),
    code,
  )
  return `${imports.join('')}${linked}`
}

/** The source of an ES module whose default export validates a manifest document. */
export const standaloneValidator = (table: SizeTable): string => {
  const ajv = new Ajv2020({
    code: { source: true, esm: true },
    inlineRefs: false,
    strictTypes: false,
    strictRequired: false,
  })
  const generate = standalone.default ?? standalone
  return `${withImports(generate(ajv, ajv.compile(manifestSchema(table))))}\n`
}
