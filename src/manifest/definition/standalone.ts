/** Compiles the schemas to code at build time, to save time at start-up. */
import standalone from 'ajv/dist/standalone/index.js'
import type { SizeTable } from '../../model/index.ts'
import { createCompiler, VALIDATOR_NAMES } from './compiler.ts'

/** ajv's code uses `require` for two small helpers. ES modules and bundlers need imports instead. */
const HELPERS = {
  'ajv/dist/runtime/equal': 'ajvEqual',
  'ajv/dist/runtime/ucs2length': 'ajvLength',
} as const

const withImports = (code: string): string => {
  // Depending on the loader, this is the module or its default export.
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

/** Source code of an ES module that exports all validators. */
export const standaloneValidator = (table: SizeTable): string => {
  const ajv = createCompiler(table, { source: true, esm: true })
  const generate = standalone.default ?? standalone
  return `${withImports(generate(ajv, Object.fromEntries(VALIDATOR_NAMES.map((name) => [name, name]))))}\n`
}
