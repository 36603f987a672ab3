/**
 * Generates files from the source: the JSON Schemas, the assets of pages, tables in the docs, and the precompiled
 * validator. With `--check`, nothing is written, and the script fails if a file is out of date.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buildSync } from 'esbuild'
import { parse } from 'yaml'
import { eventSchema, planFileSchema, planSchema } from '../src/apply/index.ts'
import { REPOSITORY } from '../src/base/index.ts'
import { standaloneValidators } from '../src/manifest/definition/compiler.ts'
import { manifestSchema, POLICY_SCHEMA, sharedSchema } from '../src/manifest/index.ts'
import { EFFECT_RULES, type Explanation, IMPACT_WORDS, REASONS } from '../src/model/index.ts'
import { seedSchema } from '../src/sandbox/index.ts'
import { controlApiPage } from './control-api.ts'
import { hintsPage } from './hints.ts'
import { promisesPage, withSafety } from './promises.ts'
import {
  actionPage,
  commandPages,
  faultsPage,
  jsonPage,
  manifestKeysPage,
  metricsPage,
  pageOf,
  policyRulesPage,
  routesPage,
  table,
} from './reference.ts'

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

/** All explanations, by code. Impacts, effects and reasons are explained by the words of the model. */
const explanations = (): Readonly<Record<string, Explanation>> => {
  const source: Readonly<Record<string, Partial<Explanation>>> = parse(readFileSync('src/model/codes.yaml', 'utf8'))
  const words: Readonly<Record<string, string>> = { ...IMPACT_WORDS, ...EFFECT_RULES }
  return {
    ...Object.fromEntries(
      Object.entries(source).map(([code, one]) => {
        const texts = Object.entries(one).map(([key, text]) => [key, text.trimEnd()])
        return [code, { rule: words[code] ?? '', ...Object.fromEntries(texts) }]
      }),
    ),
    ...Object.fromEntries(
      Object.entries(REASONS).map(([reason, words]) => [
        reason,
        { rule: `In a plan: ${words}.`, example: `why: ${words} (${reason})` },
      ]),
    ),
  }
}

const isError = (code: string): boolean => /^[EW]_/.test(code)

const CODES = Object.entries(explanations()).sort(([a], [b]) => (a < b ? -1 : 1))

/** docs/reference/codes.md, with the same texts as `espalier explain CODE`. */
const codesPage = (): string => {
  const rows = (areErrors: boolean): string =>
    table(
      ['code', areErrors ? 'rule' : 'meaning', 'what to do'],
      CODES.flatMap(([code, { rule, wayOut = '' }]) =>
        isError(code) === areErrors ? [[`\`${code}\``, rule, wayOut]] : [],
      ),
    )
  return pageOf(
    'src/model/codes.yaml',
    'Codes',
    'Codes of errors (`E_`) and warnings (`W_`) are stable, but the messages may change. `espalier explain CODE` explains a code and shows an example.',
    '',
    rows(true),
    '',
    '## Impacts, effects, reasons and outcomes',
    '',
    'A plan contains the impact of each change, its effects and the reasons for it. An outcome contains the reason why a step was not done.',
    '',
    rows(false),
  )
}

/** The names of all errors and warnings as a type, which the published types can contain. */
const codeType = (): string =>
  ['export type DiagnosticCode =', ...CODES.flatMap(([code]) => (isError(code) ? [`  | '${code}'`] : [])), ''].join(
    '\n',
  )

/** The style sheets and scripts that are inlined into every HTML page, so that a page loads no other resources. */
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

/** The file's text, in which references to the Action, the agent's image and the package name the current version. */
const pinned = (file: string): string => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const named = new RegExp(`(?<=${REPOSITORY}@v|${REPOSITORY}-agent:|rev: v|'espalier@)\\d[\\w.-]*`, 'g')
  return readFileSync(file, 'utf8').replaceAll(named, version)
}
const PINNING = [
  'docs/reference/commands.md',
  'docs/reference/action.md',
  'docs/how-to/keys-and-rights.md',
  'docs/how-to/plan-forks.md',
  'deploy/kubernetes/espalier-agent.yaml',
  ...readdirSync('examples/workflows').map((name) => `examples/workflows/${name}`),
]

const metrics = await metricsPage()

const GENERATED: Readonly<Record<string, () => string>> = {
  ...Object.fromEntries(PINNING.map((file) => [file, () => pinned(file)])),
  'README.md': () => withSafety(pinned('README.md')),
  'docs/reference/codes.md': codesPage,
  ...(await commandPages()),
  'docs/reference/action-inputs.md': actionPage,
  'docs/reference/manifest-keys.md': manifestKeysPage,
  'docs/reference/policy-rules.md': policyRulesPage,
  'docs/reference/json.md': jsonPage,
  'docs/reference/agent-metrics.md': () => metrics,
  'docs/reference/control-api-routes.md': routesPage,
  'docs/reference/sandbox-faults.md': faultsPage,
  'src/model/generated/codes.json': () => json(explanations()),
  'src/model/generated/diagnostic-code.ts': codeType,
  'docs/promises.md': promisesPage,
  'test/hints.md': hintsPage,
  'test/control-api.md': controlApiPage,
  'schemas/manifest.schema.json': () => json(manifestSchema()),
  'schemas/shared.schema.json': () => json(sharedSchema()),
  'schemas/policy.schema.json': () => json(POLICY_SCHEMA),
  'schemas/plan.schema.json': () => json(planSchema()),
  'schemas/plan-file.schema.json': () => json(planFileSchema()),
  'schemas/event.schema.json': () => json(eventSchema()),
  'schemas/seed.schema.json': () => json(seedSchema()),
  'src/sandbox/generated/openapi.json': () => json(parse(readFileSync('schemas/control-api.openapi.yaml', 'utf8'))),
  'src/report/html/generated/assets.json': pageAssets,
  // The workflows and the policies that `init` writes.
  'src/cli/init/generated/workflows.json': () =>
    json({
      plan: pinned('examples/workflows/pull-request.yml'),
      apply: pinned('examples/workflows/apply.yml'),
      policy: readFileSync('examples/ci/espalier.policy.yaml', 'utf8'),
    }),
  'src/manifest/generated/validator.js': standaloneValidators,
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
  console.error(`Out of date: ${stale.join(', ')}. Run \`npm run generate\` and commit the result.`)
  process.exitCode = 1
} else {
  console.log(stale.length === 0 ? 'Generated files are up to date.' : `Written: ${stale.join(', ')}`)
}
