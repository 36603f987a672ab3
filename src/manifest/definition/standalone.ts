/** The schema compiled to code, so that starting up does not have to. */
import standalone from 'ajv/dist/standalone/index.js'
import type { SizeTable } from '../../model/index.ts'
import { createCompiler, VALIDATOR_NAMES } from './compiler.ts'

/** ajv refers to two of its small helpers by `require`, which an ES module does not have; bundlers want imports. */
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

/** The source of an ES module that exports a validator for each kind of file. */
export const standaloneValidator = (table: SizeTable): string => {
  const ajv = createCompiler(table, { source: true, esm: true })
  const generate = standalone.default ?? standalone
  return `${withImports(generate(ajv, Object.fromEntries(VALIDATOR_NAMES.map((name) => [name, name]))))}\n`
}
