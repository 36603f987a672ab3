/** `espalier explain`: each example of a mistake causes its code, and the correction does not. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DIAGNOSTIC_CODES, MISTAKES as MANIFEST_MISTAKES, parseManifests } from '../../src/manifest/index.ts'
import { plan } from '../../src/planner/index.ts'
import { EXPLANATIONS } from '../../src/report/index.ts'
import { startInProcess } from '../in-process.ts'
import { PROJECT, world } from '../planner/world.ts'

const LIVE = world({
  main: { primary: { id: 'ep-main-a1b2c3' }, replicas: [{ id: 'ep-bi-a1b2c3', name: 'bi' }] },
  staging: { primary: { id: 'ep-staging-d4e5f6' } },
  spare: {},
})
const [project] = LIVE.projects
if (project === undefined) throw new Error('no project')
const twins = ['br-feature-1', 'br-feature-2'].map((id) => ({
  id,
  name: 'feature',
  isDefault: false,
  isProtected: false,
}))
const observed = { ...LIVE, projects: [{ ...project, branches: [...project.branches, ...twins] }] }

const codesOf = (text: string): readonly string[] => {
  const { desired, diagnostics } = parseManifests([
    { path: 'x.yaml', text: `version: 1\nproject: ${PROJECT}\n${text}\n` },
  ])
  const result = plan(desired, observed)
  return [...diagnostics, ...result.plan.warnings, ...(result.ok ? [] : result.diagnostics)].map(({ code }) => code)
}

const manifests = Object.entries(EXPLANATIONS).flatMap(([code, { mistake = '', correction = '' }]) =>
  /^(branches|rules|parkOn):/m.test(mistake) && !code.startsWith('E_TIER') ? [{ code, mistake, correction }] : [],
)

test.each(manifests)(
  'the example manifest for $code causes it, and the corrected one does not',
  ({ code, mistake, correction }) => {
    expect(codesOf(mistake)).toContain(code)
    expect(codesOf(correction)).not.toContain(code)
  },
)

/** Codes whose examples need neither a service nor a repository. */
const OFFLINE = ['E_BASE_URL', 'E_CONSENT', 'E_KEY', 'E_OVERRIDE', 'E_PRICE', 'E_TIER', 'E_USAGE'] as const

test.each(OFFLINE)('the example command line for %s causes it', async (code) => {
  const cwd = await mkdtemp(join(tmpdir(), 'espalier-mistakes-'))
  await writeFile(join(cwd, 'espalier.yaml'), `version: 1\nproject: ${PROJECT}\nbranches: { main: { primary: {} } }\n`)
  const line = EXPLANATIONS[code]?.mistake?.replace(/^unset [^;]*; | < .*$/g, '') ?? ''
  const env = code === 'E_KEY' ? {} : { ESPALIER_API_KEY: 'a-key-of-no-service' }
  const { stderr } = await startInProcess(line.split(' ').slice(1), { cwd, env }).ended
  expect(stderr).toContain(code)
})

/** Failures of the service, bugs, and codes that no single line of input causes. */
const WITHOUT =
  /^E_(?:AGENT_\w+|ANSWER(?:_SIZE)?|API|FORK_(?:BASE|PROJECT)|FORMAT|IMPORT|NETWORK|NOT_REVIEWED|OPERATION|PLAN_EDITED|POLICY(?:_BASE)?|POSTGRES\w*|PROJECT_UNREADABLE|PSQL|READ_BACK|REDIRECT|SANDBOX_(?:BRANCH|WORLD)|SEED|STALE|TIER_TABLE|TIMEOUT|TWO_PRIMARIES)$/

test('every other error has an example of a mistake and its correction', () => {
  const errors = Object.entries(EXPLANATIONS).filter(([code]) => code.startsWith('E_') && !(code in DIAGNOSTIC_CODES))
  const lacking = errors.filter(
    ([code, { mistake }]) => mistake === undefined && !(code in MANIFEST_MISTAKES) && !WITHOUT.test(code),
  )
  expect(lacking).toEqual([])
})
