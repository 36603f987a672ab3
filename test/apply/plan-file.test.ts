import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { decodePlanFile, encodePlanFile, openJournal } from '../../src/apply/index.ts'
import { type DeclaredDocument, planOf, world } from '../planner/world.ts'

const manifest: DeclaredDocument = { branches: { main: { primary: { size: 2 } } } }
const live = world({ main: { primary: { id: 'ep-1', size: 1 } }, other: { primary: { id: 'ep-2' } } })

const saved = (manifestDigest = 'a'.repeat(64)): string =>
  encodePlanFile({
    plan: planOf(manifest, live),
    observed: live,
    manifestDigest,
    espalier: '1.0.0',
    createdAt: '2026-01-01T00:00:00.000Z',
  })

describe('a plan file', () => {
  test('a written plan file decodes to the same plan', () => {
    expect(decodePlanFile(saved(), 'plan.json').plan).toEqual(planOf(manifest, live))
  })

  test('a plan file starts with its kind and versions, and the long parts come last', () => {
    const keys = Object.keys(JSON.parse(saved()))
    expect(keys.slice(0, 4)).toEqual(['kind', 'formatVersion', 'espalier', 'createdAt'])
    expect(keys.slice(-3)).toEqual(['seen', 'plan', 'digest'])
  })

  const deep = `"endpoint": { "settings": { "x": ${'['.repeat(9_999)}${']'.repeat(9_999)} },`
  const WRITE = { code: 'E_PLAN_FILE', hint: 'Write one with `espalier plan --out FILE`.' }
  const UPGRADE = { code: 'E_PLAN_FILE', hint: 'Plan again with this version of espalier.' }
  const EDITED = { code: 'E_STALE', exitCode: 4, hint: 'Plan again. To change a plan, change its manifests.' }
  test.each([
    ['text that is not JSON', '{', 'not JSON', WRITE],
    ['null', 'null', 'not a saved plan', WRITE],
    ['no format', saved().replace('"formatVersion"', '"other"'), 'not a saved plan', WRITE],
    ['a later format', saved().replaceAll('"3.0"', '"9.0"'), 'format 9.0; this program reads format 3.0', UPGRADE],
    ['the format of version 1', saved().replaceAll('"3.0"', '"1.0"'), 'this program reads format 3.0', UPGRADE],
    ['a path that leaves the API', saved().replace('"/projects/', '"/../evil/'), 'not a saved plan', WRITE],
    ['a path that leaves its project', saved().replace('/endpoints/ep-1', '/endpoints/..'), 'not a saved plan', WRITE],
    ['a missing part', saved().replace('"seen"', '"other"'), 'seen', WRITE],
    ['no digest', saved().replace('"digest"', '"other"'), 'digest', WRITE],
    ['an edit', saved().replace('2 CU', '1 CU'), 'edited', EDITED],
    ['a deeply nested value', saved().replace('"endpoint": {', deep), 'edited', EDITED],
  ])('a plan file with %s is rejected, and the error says why', (_what, text, words, error) => {
    const thrown = expect.objectContaining({ message: expect.stringContaining(words), ...error })
    expect(() => decodePlanFile(text, 'plan.json')).toThrow(thrown)
  })
})

describe('the journal', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  test('contains each event in order and is readable only by its owner', async () => {
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

  test('starts a new line after an incomplete one left behind by a killed run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-'))
    folders.push(folder)
    const file = join(folder, 'journal.jsonl')
    writeFileSync(file, '{"time":')
    const journal = await openJournal(file)
    await journal.write({ time: '2026-01-01T00:00:00.000Z', type: 'interrupt', message: 'whole' })
    await journal.close()
    expect(JSON.parse(readFileSync(file, 'utf8').split('\n')[1] ?? '')).toMatchObject({ message: 'whole' })
  })

  test('adds no empty lines to a new or complete file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-'))
    folders.push(folder)
    const file = join(folder, 'journal.jsonl')
    const event = { time: '2026-01-01T00:00:00.000Z', type: 'interrupt' as const, message: 'one' }
    for (const _run of ['first', 'second']) {
      const journal = await openJournal(file)
      await journal.write(event)
      await journal.close()
    }
    expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(event)}\n`.repeat(2))
  })

  test('is closed only after the last event is written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-'))
    folders.push(folder)
    const file = join(folder, 'journal.jsonl')
    const journal = await openJournal(file)
    const written = journal.write({ time: '2026-01-01T00:00:00.000Z', type: 'interrupt', message: 'last' })
    await journal.close()
    await written
    expect(readFileSync(file, 'utf8')).toContain('last')
    await expect(
      journal.write({ time: '2026-01-01T00:00:00.000Z', type: 'interrupt', message: 'too late' }),
    ).rejects.toMatchObject({ code: 'E_OUT' })
  })

  test('fails with a hint if it cannot be opened', async () => {
    await expect(openJournal('/nowhere/journal.jsonl')).rejects.toMatchObject({
      code: 'E_OUT',
      hint: expect.stringContaining('--journal'),
    })
  })
})
