/** What happens after the steps: the check of the result, the notes, and the journal. */
import { mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { converge, type ReadCompute } from '../../src/apply/after/converge.ts'
import { openJournal } from '../../src/apply/after/journal.ts'
import { overriddenOf, overrideNotes, pinNotes, successors, unpredictedNotes } from '../../src/apply/after/notes.ts'
import type { RunContext } from '../../src/apply/context.ts'
import { EspalierError } from '../../src/base/index.ts'
import {
  type AttributeChange,
  type Change,
  type Plan,
  type PlanResult,
  type PolicyResult,
  problem,
  type StepOutcome,
  warning,
} from '../../src/model/index.ts'
import { compute, fakeApi, fakeClock } from './fake-api.ts'
import { creating, deleting, planWith, step } from './small-plans.ts'

const ended = (id: string, more: Partial<StepOutcome> = {}): StepOutcome => ({
  ...{ step: id, status: 'done', operations: [], durationMs: 0 },
  ...more,
})
const byStep = (...outcomes: readonly StepOutcome[]) => new Map(outcomes.map((one) => [one.step, one]))
const changing = (id: string, more: Partial<Change> = {}): Change => ({
  ...{ id, kind: 'update', project: 'p', branch: { id: 'br-main', name: 'main' } },
  ...{ compute: { type: 'read_write', id: 'ep-1' }, attributes: [], effects: [], impact: 'none', reasons: [] },
  ...more,
})

describe('the check after the steps', () => {
  /** Checks a run; `results` are those of the plans made again, the last one repeated. */
  const check = async (plan: Plan, outcomes: readonly StepOutcome[], ...results: readonly (PlanResult | Error)[]) => {
    const clock = fakeClock()
    const reads: (readonly ReadCompute[])[] = []
    const replan = async (_aliases: unknown, read: readonly ReadCompute[]) => {
      reads.push(read)
      const result = results[Math.min(reads.length, results.length) - 1]
      if (result === undefined || result instanceof Error) throw result
      return result
    }
    const context = { api: fakeApi({ computes: [compute('ep-1')] }), clock } as unknown as RunContext
    return { result: await converge(plan, outcomes, {}, replan, context), reads, slept: clock.slept }
  }
  const left = (...changes: readonly Change[]): PlanResult => {
    return { ok: true, plan: { ...planWith(...changes.map(({ id }) => step(id))), changes } } as PlanResult
  }
  const [A, B] = [step('a'), step('b', { compute: { type: 'read_only', id: 'ep-2' } })]
  const [EP1, EP2] = [
    { project: 'p', id: 'ep-1', compute: compute('ep-1') },
    { project: 'p', id: 'ep-2' },
  ]
  const ALL = [0, 250, 1_000, 3_000]

  test.each<readonly [string, readonly StepOutcome[]]>([
    ['if no step is done', [ended('a', { status: 'failed' })]],
    ['if the service rejected the key', [ended('a'), ended('b', { status: 'failed', reason: 'auth' })]],
  ])('is left out %s', async (_, outcomes) => {
    expect(await check(planWith(A, B), outcomes, left())).toEqual({ result: {}, reads: [], slept: [] })
  })

  const diagnostics = [problem('E_API', 'No branch. There.'), warning('W_SLEEPS', 'Odd.')]
  const unread: PlanResult = { ok: false, plan: planWith(), diagnostics }
  const done = { converged: true }
  const open = (...what: readonly string[]) => ({ converged: false, left: what })
  const UPDATE = 'update primary on main (ep-1)'
  const size = { path: 'size', beforeText: '1 CU', afterText: '2 CU' } as AttributeChange
  const name = { path: 'name', afterText: 'r' } as AttributeChange

  interface Case {
    readonly outcomes: readonly StepOutcome[]
    readonly results: readonly (PlanResult | Error)[]
    readonly expected: Awaited<ReturnType<typeof check>>
  }
  test.each<[string, Case]>([
    [
      'plans once if nothing is left',
      { outcomes: [ended('a'), ended('b')], results: [left()], expected: { result: done, reads: [[]], slept: [] } },
    ],
    [
      'reads the computes by id whose changes are left although they are done, and plans again',
      {
        outcomes: [ended('a'), ended('b')],
        results: [left(changing('a')), left(changing('b')), left()],
        expected: { result: done, reads: [[], [EP1], [EP2]], slept: [0, 250] },
      },
    ],
    [
      'reads all changed computes by id if planning fails, and names its errors after the last pause',
      {
        outcomes: [ended('a'), ended('b', { computeId: 'ep-1' })],
        results: [unread],
        expected: { result: open('No branch. There'), reads: [[], ...ALL.map(() => [EP1, EP1])], slept: ALL },
      },
    ],
    [
      'does not wait for a change that is not done',
      {
        outcomes: [ended('a'), ended('b', { status: 'failed' })],
        results: [left(changing('b', { attributes: [size, name] }), changing('new'))],
        expected: { result: open(`${UPDATE}: size 1 CU → 2 CU, name nothing → r`, UPDATE), reads: [[]], slept: [] },
      },
    ],
    [
      'does not count scheduled steps as left',
      {
        outcomes: [ended('a'), ended('b', { status: 'scheduled' })],
        results: [left(changing('b'), changing('new', { kind: 'move', from: { id: 'br-dev', name: 'dev' } }))],
        expected: { result: open('move primary from dev to main (ep-1)'), reads: [[]], slept: [] },
      },
    ],
    [
      'names why the projects cannot be read',
      {
        outcomes: [ended('a'), ended('b')],
        results: [new EspalierError('E_API', 'The service is away.')],
        expected: { result: open('The service is away.'), reads: [[]], slept: [] },
      },
    ],
  ])('%s', async (_, { outcomes, results, expected }) => {
    expect(await check(planWith(A, B), outcomes, ...results)).toEqual(expected)
  })

  test('counts a change as done only if all its steps are, and reads only computes that have an id', async () => {
    const twoSteps = planWith(A, step('b', { change: 'a' }), step('c', creating))
    const outcomes = [ended('a'), ended('c')]
    const { reads } = await check(twoSteps, outcomes, left(changing('a'), changing('c')))
    expect(reads).toEqual([[]])
  })

  test('throws errors that are not expected', async () => {
    await expect(check(planWith(A), [ended('a')], new TypeError('a bug'))).rejects.toThrow('a bug')
  })
})

describe('the notes', () => {
  const replaced = changing('c', { kind: 'replace', source: { file: 'a.yaml', line: 7, column: 1, length: 1 } })
  const plan: Plan = {
    ...planWith(
      step('c#1', { ...deleting, change: 'c' }),
      step('c#2', { ...creating, change: 'c' }),
      step('move', { kind: 'move' }),
      step('new', creating),
    ),
    changes: [replaced, changing('move', { kind: 'move', from: { id: 'br-dev', name: 'dev' } })],
  }
  const [removed, made] = [ended('c#1', { computeId: 'ep-1' }), ended('c#2', { computeId: 'ep-9' })]

  test('successors are the computes that replacements have created', () => {
    expect(successors(plan, byStep(removed, made, ended('new', { computeId: 'ep-8' })))).toEqual({ 'ep-1': 'ep-9' })
    expect(successors(plan, byStep(removed))).toStrictEqual({})
    expect(successors({ ...plan, changes: [changing('c')] }, byStep(removed, made))).toEqual({})
  })

  test.each<readonly [string, Change, readonly StepOutcome[], readonly string[]]>([
    [
      'that was replaced',
      replaced,
      [removed],
      ['ep-1 was replaced: change its pin at a.yaml:7 to `id: ep-9`, or remove the pin.'],
    ],
    [
      'without a place',
      changing('c', { kind: 'replace' }),
      [removed],
      ['ep-1 was replaced: change its pin to `id: ep-9`, or remove the pin.'],
    ],
    ['whose deletion failed', replaced, [{ ...removed, status: 'failed' }, made], []],
    ['that was not reached', replaced, [made], []],
    ['that was only deleted', { ...replaced, kind: 'delete' }, [removed], []],
    ['that was never created', { ...replaced, compute: { type: 'read_only' } }, [removed], []],
  ])('a pin of a compute %s', (_, change, outcomes, notes) => {
    expect(pinNotes({ ...plan, changes: [change] }, byStep(...outcomes), { 'ep-1': 'ep-9' })).toEqual(notes)
  })

  test('name the steps that interrupted users unexpectedly, and no others', () => {
    const at = (predicted: 'none' | 'restart') => ({ observation: { predicted, observed: 'restarted' as const } })
    expect(unpredictedNotes(plan, byStep(ended('move', at('none')), ended('new', at('restart')), made))).toEqual([
      'Not predicted: move primary from dev to main (ep-1) in project `p` restarted.',
    ])
  })

  test('list the overrides once for each policy and project', () => {
    const result = (policy: string, message: string, more: Partial<PolicyResult> = {}): PolicyResult =>
      ({ policy, message, override: 'test', ...more }) as PolicyResult
    const { override: _none, ...kept } = result('kept', '5')
    const results = [
      result('small', '1', { project: 'p', overriddenBy: 'ann' }),
      result('small', '2', { project: 'q' }),
      result('small', '3', { project: 'p', overriddenBy: 'ann' }),
      result('whole', '4'),
      kept as PolicyResult,
    ]
    const policies = { results } as unknown as NonNullable<Plan['policies']>
    expect(overriddenOf({ policies })).toEqual([
      { policy: 'small', project: 'p', reason: 'test', by: 'ann', violations: ['1', '3'] },
      { policy: 'small', project: 'q', reason: 'test', by: 'unknown', violations: ['2'] },
      { policy: 'whole', reason: 'test', by: 'unknown', violations: ['4'] },
    ])
    expect(overrideNotes({ policies }).slice(1)).toEqual([
      'unknown overrode policy `small` in q: test',
      'unknown overrode policy `whole`: test',
    ])
  })
})

describe('the journal', () => {
  const newFolder = (): string => mkdtempSync(join(tmpdir(), 'espalier-journal-'))
  const event = (espalier: string) => ({ time: '', type: 'version', espalier, format: '' }) as const
  const line = (espalier: string): string => `${JSON.stringify(event(espalier))}\n`

  test.each([
    ['is created, readable only by its owner', undefined, ''],
    ['is appended to', 'old\n', 'old\n'],
    ['is appended to after an incomplete line is ended', 'old\nol', 'old\nol\n'],
  ])('%s, and holds the events in their order', async (_, old, start) => {
    const path = join(newFolder(), 'journal.jsonl')
    if (old !== undefined) writeFileSync(path, old, { mode: 0o600 })
    const journal = await openJournal(path)
    const words = ['x'.repeat(2_000_000), 'b', 'c']
    void Promise.all(words.map((one) => journal.write(event(one))))
    await journal.close()
    expect(readFileSync(path, 'utf8')).toBe(start + words.map(line).join(''))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await expect(journal.write(event('late'))).rejects.toMatchObject({
      ...{ code: 'E_OUT', message: `The journal ${path} cannot be written: EBADF.` },
      hint: 'Make room or choose another file with --journal, then run the same command again.',
      cause: { code: 'EBADF' },
    })
  })

  test('is not opened if its folder is missing or it is a link', async () => {
    const folder = newFolder()
    const missing = openJournal(join(folder, 'none', 'a'))
    await expect(missing).rejects.toMatchObject({ code: 'E_OUT', message: expect.stringMatching(/opened: ENOENT\.$/) })
    symlinkSync(join(folder, 'target'), join(folder, 'link'))
    await expect(openJournal(join(folder, 'link'))).rejects.toThrow('cannot be opened: it is a symbolic link')
  })
})
