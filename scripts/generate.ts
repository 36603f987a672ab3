/**
 * Generates files from the source: JSON Schemas, pages, tables in the docs, the precompiled validator. `--check` fails
 * if one is out of date.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buildSync } from 'esbuild'
import { parse } from 'yaml'
import { eventSchema, planFileSchema, planSchema } from '../src/apply/index.ts'
import { standaloneValidator } from '../src/manifest/definition/standalone.ts'
import { DIAGNOSTIC_CODES, manifestSchema, POLICY_SCHEMA, sharedSchema } from '../src/manifest/index.ts'
import { REPOSITORY, SIZE_TABLE } from '../src/model/index.ts'
import { EXPLANATIONS, type Explanation } from '../src/report/index.ts'
import { seedSchema } from '../src/sandbox/index.ts'
import { withTables } from './manifest-tables.ts'

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/** Also what `espalier explain CODE` prints. */
const codesPage = (): string => {
  const codes: Readonly<Record<string, Explanation>> = { ...EXPLANATIONS, ...DIAGNOSTIC_CODES }
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  const rows = Object.entries(codes)
    .filter(([code]) => /^[EW]_/.test(code))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([code, { rule, example, correction = '', wayOut }]) =>
        `| \`${code}\` | ${cell(rule)} | ${cell(wayOut ?? example ?? correction)} |`,
    )
  return [
    '# Codes',
    '',
    'Every error (`E_`) and warning (`W_`) has a code that stays the same while its words may change. `espalier explain CODE` prints the same with an example. This page is generated: `npm run generate`.',
    '',
    '| code | rule | what to do |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** Assets inlined into each page, so that it loads nothing. */
const pageAssets = (): string => {
  const folder = 'src/report/html/assets'
  const bundle = (file: string): string =>
    buildSync({
      entryPoints: [`${folder}/${file}`],
      bundle: true,
      minify: true,
      write: false,
      charset: 'utf8',
      target: 'es2022',
    })
      .outputFiles.map(({ text }) => text)
      .join('')
  return json({
    script: bundle('page.ts'),
    style: bundle('page.css'),
    agentScript: bundle('agent.ts'),
    agentStyle: bundle('agent.css'),
  })
}

/** Pins the current version wherever a release is named: the Action, the agent's image, the package. */
const pinned = (file: string): string => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const named = new RegExp(`(?<=${REPOSITORY}@v|${REPOSITORY}-agent:|rev: v|'espalier@)\\d[\\w.-]*`, 'g')
  return readFileSync(file, 'utf8').replaceAll(named, version)
}
const PINNING = [
  'README.md',
  'docs/cli.md',
  'docs/github-action.md',
  'deploy/kubernetes/espalier-agent.yaml',
  ...readdirSync('examples/workflows').map((name) => `examples/workflows/${name}`),
]

const GENERATED: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(PINNING.map((file) => [file, () => pinned(file)])),
  'docs/codes.md': codesPage,
  'docs/manifest.md': () => withTables(readFileSync('docs/manifest.md', 'utf8')),
  'schemas/manifest.schema.json': () => json(manifestSchema(SIZE_TABLE)),
  'schemas/shared.schema.json': () => json(sharedSchema(SIZE_TABLE)),
  'schemas/policy.schema.json': () => json(POLICY_SCHEMA),
  'schemas/plan.schema.json': () => json(planSchema()),
  'schemas/plan-file.schema.json': () => json(planFileSchema()),
  'schemas/event.schema.json': () => json(eventSchema()),
  'schemas/seed.schema.json': () => json(seedSchema()),
  'src/sandbox/generated/openapi.json': () => json(parse(readFileSync('schemas/control-api.openapi.yaml', 'utf8'))),
  'src/report/html/generated/assets.json': pageAssets,
  // Written by `init`.
  'src/cli/init/generated/workflows.json': () =>
    json({
      plan: pinned('examples/workflows/pull-request.yml'),
      apply: pinned('examples/workflows/apply.yml'),
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
