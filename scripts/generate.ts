/** Writes what is generated from the source: JSON Schemas and the precompiled validator. `--check` fails where a file is stale. */
import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parse } from 'yaml'
import { eventSchema, planFileSchema, planSchema } from '../src/apply/index.ts'
import { standaloneValidator } from '../src/manifest/definition/standalone.ts'
import { manifestSchema } from '../src/manifest/index.ts'
import { SIZE_TABLE } from '../src/model/index.ts'
import { seedSchema } from '../src/sandbox/index.ts'

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

const GENERATED: Readonly<Record<string, () => string>> = {
  'schemas/manifest.schema.json': () => json(manifestSchema(SIZE_TABLE)),
  'schemas/plan.schema.json': () => json(planSchema()),
  'schemas/plan-file.schema.json': () => json(planFileSchema()),
  'schemas/event.schema.json': () => json(eventSchema()),
  'schemas/seed.schema.json': () => json(seedSchema()),
  'src/sandbox/generated/openapi.json': () => json(parse(readFileSync('schemas/control-api.openapi.yaml', 'utf8'))),
  // What `init` writes.
  'src/cli/init/generated/workflows.json': () =>
    json({
      plan: readFileSync('examples/workflows/pull-request.yml', 'utf8'),
      apply: readFileSync('examples/workflows/apply.yml', 'utf8'),
    }),
  'src/manifest/generated/validator.js': () => standaloneValidator(SIZE_TABLE),
}

const check = process.argv.includes('--check')
const stale: string[] = []
for (const [path, make] of Object.entries(GENERATED)) {
  const text = make()
  const present = await readFile(path, 'utf8').catch(() => undefined)
  if (present === text) continue
  stale.push(path)
  if (check) continue
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

if (check && stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run \`npm run generate\` and commit what it writes.`)
  process.exitCode = 1
} else {
  console.log(stale.length === 0 ? 'Generated files are fresh.' : `Written: ${stale.join(', ')}`)
}
