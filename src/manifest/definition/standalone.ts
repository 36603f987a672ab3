/** Compiles the schemas to code at build time, to save time at start-up. */
import standalone from 'ajv/dist/standalone/index.js'
import type { SizeTable } from '../../model/index.ts'
import { createCompiler } from './compiler.ts'

/** ajv's code uses `require` for two small helpers. ES modules and bundlers need imports instead. */
const HELPERS = {
  'ajv/dist/runtime/equal': 'ajvEqual',
  'ajv/dist/runtime/ucs2length': 'ajvLength',
} as const

const withImports = (code: string): string => {
  // Depending on the loader, an import is the module or its default export.
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

/** Source code of an ES module that exports these validators. */
export const standaloneValidators = (table: SizeTable, names: readonly string[]): string => {
  const ajv = createCompiler(table, { source: true, esm: true })
  const generate = standalone.default ?? standalone
  const code = generate(ajv, Object.fromEntries(names.map((name) => [name, name])))
  return `${withImports(shortened(code))}\n`
}

/**
 * Shortens the code that adds an error, because it occurs hundreds of times, and leaves out the schema path, which
 * nothing reads.
 */
const shortened = (code: string): string =>
  code
    .replaceAll(
      /if\(vErrors === null\)\{vErrors = \[(err\d+)\];\}else \{vErrors\.push\(\1\);\}/g,
      '(vErrors ??= []).push($1);',
    )
    .replaceAll(/schemaPath:"[^"]*",/g, '')
