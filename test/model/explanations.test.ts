/** `espalier explain`: every code is explained, and the examples of mistakes are true. */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import { EFFECT_KINDS, EXPLANATIONS, FAILURE_REASONS, IMPACTS, REASONS } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { startInProcess } from '../in-process.ts'
import { PROJECT, world } from '../planner/world.ts'

test('every code that the program can print is explained, and no other code is', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('generated'))
    .map((path) => readFileSync(join('src', path), 'utf8'))
    .join('\n')
    // The manifest definition names rules the same way.
    .replaceAll(/\$comment: '\w+'/g, '')
  const printed = [...sources.matchAll(/'([EW]_[A-Z_]+)'/g)].map(([, code = '']) => code)
  const known = new Set([...printed, '53100', ...IMPACTS, ...EFFECT_KINDS, ...FAILURE_REASONS, ...Object.keys(REASONS)])
  expect(Object.keys(EXPLANATIONS).sort()).toEqual([...known].sort())
})

test.each(Object.entries(EXPLANATIONS))(
  '%s has a rule and an example, and every error and warning has a way out',
  (code, { rule, example, mistake, correction, wayOut }) => {
    expect(rule).not.toBe('')
    expect(example ?? mistake).toBeDefined()
    expect(mistake === undefined).toBe(correction === undefined)
    if (/^[EW]_/.test(code)) expect(wayOut).toBeDefined()
  },
)

const LIVE = world({
  main: { primary: { id: 'ep-main-a1b2c3' }, replicas: [{ id: 'ep-bi-a1b2c3', name: 'bi' }] },
  staging: { primary: { id: 'ep-staging-d4e5f6' } },
  spare: {},
})
const twins = ['br-feature-1', 'br-feature-2'].map((id) => ({
  id,
  name: 'feature',
  isDefault: false,
  isProtected: false,
}))
const observed = {
  ...LIVE,
  projects: LIVE.projects.map((project) => ({ ...project, branches: [...project.branches, ...twins] })),
}

const codesOf = (text: string): readonly string[] => {
  const whole = /^(?:version:|project:|#)/.test(text) ? text : `project: ${PROJECT}\n${text}`
  const { desired, diagnostics } = parseManifests([
    { path: 'x.yaml', text: /^(?:version:|#)/.test(whole) ? whole : `version: 1\n${whole}` },
  ])
  const result = plan(desired, observed)
  return [...diagnostics, ...result.plan.warnings, ...(result.ok ? [] : result.diagnostics)].map(({ code }) => code)
}

/** The examples that are manifests, except those that depend on the account's plan. */
const manifests = Object.entries(EXPLANATIONS).flatMap(([code, { mistake = '', correction = '' }]) =>
  /^(?:version|project|branches|rules|parkOn|prune|restartWindow):|^#/.test(mistake) && code !== 'E_TIER_LIMIT'
    ? [{ code, mistake, correction }]
    : [],
)

test.each(manifests)(
  'the example manifest for $code causes it, and the corrected one is valid',
  ({ code, mistake, correction }) => {
    expect(codesOf(mistake)).toContain(code)
    const corrected = codesOf(correction)
    expect(corrected).not.toContain(code)
    expect(corrected.filter((one) => one.startsWith('E_') && one !== 'E_PROJECT_UNKNOWN')).toEqual([])
  },
)

test.each(['E_BASE_URL', 'E_CONSENT', 'E_KEY', 'E_OVERRIDE', 'E_USAGE'])(
  'the example command line for %s causes it',
  async (code) => {
    const cwd = await mkdtemp(join(tmpdir(), 'espalier-mistakes-'))
    await writeFile(
      join(cwd, 'espalier.yaml'),
      `version: 1\nproject: ${PROJECT}\nbranches: { main: { primary: {} } }\n`,
    )
    const line = EXPLANATIONS[code]?.mistake?.replace(/^unset [^;]*; | < .*$/g, '') ?? ''
    const env = code === 'E_KEY' ? {} : { ESPALIER_API_KEY: 'a-key-of-no-service' }
    const { stderr } = await startInProcess(line.split(' ').slice(1), { cwd, env }).ended
    expect(stderr).toContain(code)
  },
)
