/** The Rego rules of examples/policy, evaluated on Espalier's JSON. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jsonPlan } from '../../src/apply/index.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { plan } from '../../src/planner/index.ts'
import { startInProcess } from '../in-process.ts'
import { world } from '../planner/world.ts'

const FOLDER = 'examples/policy'
const RULES = join(FOLDER, 'policy')

/** The example's manifest with different values. */
const manifest = (more: { readonly primary?: string; readonly replica?: string; readonly window?: string }): string =>
  readFileSync(join(FOLDER, 'espalier.yaml'), 'utf8')
    .replace('primary: { size: 1 }', `primary: ${more.primary ?? '{ size: 1 }'}`)
    .replace('reports: { size: 2 }', `reports: ${more.replica ?? '{ size: 1 }'}`)
    .replace('branches:', `${more.window ?? ''}branches:`)

const plannedJson = (text: string): string => {
  const { desired, diagnostics } = parseManifests([{ path: 'espalier.yaml', text }])
  expect(diagnostics).toEqual([])
  return jsonPlan(
    plan(desired, world({ main: { primary: { size: 1, scaleToZero: -1 }, replicas: [{ name: 'reports', size: 1 }] } }))
      .plan,
  )
}

const resolvedJson = async (text: string): Promise<string> => {
  const cwd = mkdtempSync(join(tmpdir(), 'espalier-rego-'))
  cpSync(FOLDER, cwd, { recursive: true })
  writeFileSync(join(cwd, 'espalier.yaml'), text)
  const { stdout, code } = await startInProcess(['show', '--resolved', 'espalier.yaml', '--format', 'json'], { cwd })
    .ended
  expect(code).toBe(0)
  return stdout
}

/** Denial messages, by the program that evaluates the rules. */
const PROGRAMS: Readonly<Record<string, (input: string) => readonly string[]>> = {
  opa: (input) => {
    const { stdout } = spawnSync('opa', ['eval', '--stdin-input', '--data', RULES, 'data.main.deny'], {
      input,
      encoding: 'utf8',
    })
    return JSON.parse(stdout).result[0].expressions[0].value
  },
  conftest: (input) => {
    const { stdout, status } = spawnSync('conftest', ['test', '--policy', RULES, '--output', 'json', '-'], {
      input,
      encoding: 'utf8',
    })
    const denied = JSON.parse(stdout)[0].failures ?? []
    expect(status).toBe(denied.length > 0 ? 1 : 0)
    return denied.map(({ msg }: { readonly msg: string }) => msg)
  },
}

const WINDOW = 'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: UTC }\n'

describe.each(Object.entries(PROGRAMS))('the example policy evaluated by %s', (name, denied) => {
  const judging = test.skipIf(spawnSync(name, ['--version']).error?.message.includes('ENOENT') === true)

  judging.each([
    ['no change', {}, []],
    ['a restart on main without a window', { primary: '{ size: 2 }' }, [/restarts a compute on main outside/]],
    ['a restart in a window', { primary: '{ size: 2 }', window: WINDOW }, []],
    ['a maximum of four times the minimum', { primary: '{ size: { min: 1, max: 4 } }', window: WINDOW }, []],
    [
      'a maximum of eight times the minimum',
      { primary: '{ size: { min: 1, max: 8 } }', window: WINDOW },
      [/more than four times/],
    ],
    ['a primary on main that starts to scale to zero', { primary: '{ scaleToZero: 1h }' }, [/starts to scale to zero/]],
  ] as const)('denies a plan with %s as expected (skipped if the program is missing)', (_, more, expected) => {
    expect(denied(plannedJson(manifest(more)))).toEqual(expected.map((words) => expect.stringMatching(words)))
  })

  judging.each([
    ['a replica as large as its primary', {}, []],
    ['a replica larger than its primary', { replica: '{ size: 2 }' }, [/a replica of main is larger than its primary/]],
    ['a replica that may become larger', { replica: '{ size: { min: 0.5, max: 2 } }' }, [/larger than its primary/]],
    ['a primary that may become as large', { primary: '{ size: { min: 1, max: 2 } }', replica: '{ size: 2 }' }, []],
    ['a replica without a primary', { primary: 'absent', replica: '{ size: 2 }' }, []],
  ] as const)('denies manifests with %s as expected (skipped if the program is missing)', async (_, more, expected) => {
    expect(denied(await resolvedJson(manifest(more)))).toEqual(expected.map((words) => expect.stringMatching(words)))
  })
})

test('every key that the example rules read exists, and `windows` is absent if there is no window', async () => {
  const { steps, changes } = JSON.parse(plannedJson(manifest({ primary: '{ size: { min: 1, max: 8 } }' })))
  expect(steps[0]).toMatchObject({ branch: { name: 'main' }, impact: 'restart' })
  expect(steps[0]).not.toHaveProperty('windows')
  expect(changes[0].attributes).toMatchObject([{ path: 'size', after: { min: 1, max: 8 } }])
  const [asleep] = JSON.parse(plannedJson(manifest({ primary: '{ scaleToZero: 1h }' }))).changes
  expect(asleep).toMatchObject({ branch: { name: 'main' }, effects: [{ kind: 'sleep', before: false, after: 3600 }] })
  expect(JSON.parse(await resolvedJson(manifest({})))).toMatchObject({
    documents: [
      {
        project: 'quiet-river-12345678',
        branches: {
          main: {
            primary: { attributes: { size: { value: 1 } } },
            replicas: { reports: { attributes: { size: { value: 1 } } } },
          },
        },
      },
    ],
  })
})
