import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { checkBudgets, decodePlanFile, encodePlanFile, openJournal, whatMoved } from '../../src/apply/index.ts'
import { plan } from '../../src/planner/index.ts'
import { type DeclaredDocument, desired, planOf, world } from '../planner/world.ts'

const manifest: DeclaredDocument = { branches: { main: { primary: { size: 2 } } } }
const live = world({ main: { primary: { id: 'ep-1', size: 1 } }, other: { primary: { id: 'ep-2' } } })

const saved = (manifestDigest = 'a'.repeat(64)): string =>
  encodePlanFile({
    plan: planOf(manifest, live),
    observed: live,
    manifestDigest,
    espalierVersion: '1.0.0',
    createdAt: '2026-01-01T00:00:00.000Z',
  })

const moved = (observed: typeof live, declared = manifest, digest = 'a'.repeat(64)): readonly string[] =>
  whatMoved(decodePlanFile(saved(), 'plan.json'), plan(desired(declared), observed), observed, digest)

describe('a saved plan', () => {
  test('is read back as it was', () => {
    expect(decodePlanFile(saved(), 'plan.json').plan).toEqual(planOf(manifest, live))
  })

  test('is fresh while nothing moved that it rests on', () => {
    expect(moved(live)).toEqual([])
    expect(
      moved(world({ main: { primary: { id: 'ep-1', size: 1 } }, other: { primary: { id: 'ep-2', size: 8 } } })),
    ).toEqual([])
  })

  test.each([
    [
      'another size',
      world({ main: { primary: { id: 'ep-1', size: 4 } }, other: { primary: { id: 'ep-2' } } }),
      ['Compute ep-1 has changed.'],
    ],
    [
      'another compute',
      world({ main: { primary: { id: 'ep-3', size: 1 } }, other: { primary: { id: 'ep-2' } } }),
      ['Compute ep-1 is gone.', 'Compute ep-3 is new.'],
    ],
    [
      'what it asks for already',
      world({ main: { primary: { id: 'ep-1', size: 2 } }, other: { primary: { id: 'ep-2' } } }),
      ['Compute ep-1 has changed.'],
    ],
  ])('is stale once the project shows %s', (_what, observed, sentences) => {
    expect(moved(observed)).toEqual(sentences)
  })

  test('is stale once the manifests ask for something else', () => {
    expect(moved(live, { branches: { main: { primary: { size: 4 } } } }, 'b'.repeat(64))).toEqual([
      'The manifests have changed.',
    ])
  })

  test('is stale when a restart that it called harmless is none any more', () => {
    const idle = world({ main: { primary: { id: 'ep-1', size: 1, state: 'idle' } } })
    const file = encodePlanFile({
      plan: planOf(manifest, idle),
      observed: idle,
      manifestDigest: 'a'.repeat(64),
      espalierVersion: '1.0.0',
      createdAt: '2026-01-01T00:00:00.000Z',
    })
    const awake = world({ main: { primary: { id: 'ep-1', size: 1 } } })
    expect(whatMoved(decodePlanFile(file, 'p'), plan(desired(manifest), awake), awake, 'a'.repeat(64))).toHaveLength(1)
  })

  test.each([
    ['not JSON', '{', 'not JSON'],
    ['another version', saved().replaceAll('"1.0"', '"9.0"'), 'format 9.0'],
    ['a path that leaves the API', saved().replace('"/projects/', '"/../evil/'), 'no saved plan'],
    ['a missing part', saved().replace('"fingerprints"', '"other"'), 'fingerprints'],
  ])('%s is refused in words', (_what, text, words) => {
    expect(() => decodePlanFile(text, 'plan.json')).toThrow(words)
  })
})

describe('budgets', () => {
  const value = planOf({ branches: { main: { primary: { size: 2 } }, other: { primary: 'absent' } } }, live)

  test('a plan within them says nothing', () => {
    expect(checkBudgets(value, { maxRestarts: 1, maxDeletes: 1, maxCuIncrease: 0 })).toEqual([])
  })

  test('each that is exceeded is a sentence', () => {
    expect(checkBudgets(value, { maxRestarts: 0, maxDeletes: 0, maxCuIncrease: -1 })).toEqual([
      'The plan restarts 1 compute, --max-restarts allows 0.',
      'The plan deletes 1 compute, --max-deletes allows 0.',
      'The plan adds 0 CU, --max-cu-increase allows -1.',
    ])
  })
})

test('a compute that is created without a size cannot slip through a budget of CU', () => {
  const value = planOf({ branches: { main: { replicas: { r: {} } } } }, live)
  expect(checkBudgets(value, { maxCuIncrease: 0 })).toEqual([expect.stringContaining('give it a size')])
  expect(checkBudgets(value, { maxDeletes: 0 })).toEqual([])
})

describe('the journal', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  test('holds each event once it was written, in order, for its owner only', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-'))
    folders.push(folder)
    const file = join(folder, 'journal.jsonl')
    const journal = await openJournal(file)
    const event = (message: string) => ({ time: '2026-01-01T00:00:00.000Z', type: 'interrupt' as const, message })
    await Promise.all([journal.write(event('one')), journal.write(event('two'))])
    expect(
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).message),
    ).toEqual(['one', 'two'])
    expect(statSync(file).mode & 0o077).toBe(0)
    await journal.close()
  })

  test('a line that a kill cut short does not swallow the next event', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-'))
    folders.push(folder)
    const file = join(folder, 'journal.jsonl')
    writeFileSync(file, '{"time":')
    const journal = await openJournal(file)
    await journal.write({ time: '2026-01-01T00:00:00.000Z', type: 'interrupt', message: 'whole' })
    await journal.close()
    expect(JSON.parse(readFileSync(file, 'utf8').split('\n')[1] ?? '')).toMatchObject({ message: 'whole' })
  })

  test('one that cannot be opened is an error with a way out', async () => {
    await expect(openJournal('/nowhere/journal.jsonl')).rejects.toMatchObject({
      code: 'E_JOURNAL',
      hint: expect.stringContaining('--journal'),
    })
  })
})
