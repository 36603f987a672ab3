/** Compiles the schemas to code at build time, to save time at start-up. */
import standalone from 'ajv/dist/standalone/index.js'
import { createCompiler } from './compiler.ts'

/** ajv's code uses `require` for a small helper. ES modules and bundlers need an import instead. */
const LENGTH = 'ajv/dist/runtime/ucs2length'

const withImport = (code: string): string => {
  // Depending on the loader, an import is the module or its default export.
  const imported = `import ajvLengthModule from '${LENGTH}.js'\nconst ajvLength = { default: ajvLengthModule.default ?? ajvLengthModule }\n`
  return `${imported}${code.replaceAll(`require("${LENGTH}")`, 'ajvLength')}`
}

/** Source code of an ES module that exports these validators. */
export const standaloneValidators = (names: readonly string[]): string => {
  const ajv = createCompiler({ source: true, esm: true })
  const generate = standalone.default ?? standalone
  const code = generate(ajv, Object.fromEntries(names.map((name) => [name, name])))
  return `${withImport(shortened(code))}\n`
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
