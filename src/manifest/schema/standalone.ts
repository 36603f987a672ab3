/** The schema compiled to code, so that starting up does not have to. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import type { SizeTable } from '../../model/index.ts'
import { manifestSchema } from './manifest-schema.ts'

/** ajv refers to two small helpers of its own by `require`, which an ES module has to make for itself. */
const REQUIRE = "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n"

/** The source of an ES module whose default export validates a manifest document. */
export const standaloneValidator = (table: SizeTable): string => {
  const ajv = new Ajv2020({
    code: { source: true, esm: true },
    inlineRefs: false,
    strictTypes: false,
    strictRequired: false,
  })
  const generate = standalone.default ?? standalone
  return `${REQUIRE}${generate(ajv, ajv.compile(manifestSchema(table)))}\n`
}
