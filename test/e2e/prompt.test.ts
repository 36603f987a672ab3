/** Prompts on a terminal. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { isLong } from '../long-runs.ts'
import { runInProcess } from '../terminal/in-process.ts'
import { CTRL_C, CTRL_D } from '../terminal/interactions.ts'
import { hasTerminal, runOnTerminal } from '../terminal/pseudo-terminal.ts'
import { environmentOf } from './real-computes.ts'

let sandbox: Sandbox
let folder: string
beforeEach(async () => {
  sandbox = await startSandbox({
    seed: {
      projects: [
        {
          id: 'shop',
          name: 'storefront',
          branches: [
            { name: 'main', computes: [{ id: 'ep-main', size: 1, scaleToZero: 'never' }] },
            { name: 'old', computes: [{ id: 'ep-old', size: 1, scaleToZero: 'never' }] },
          ],
        },
      ],
    },
    timeScale: 50,
  })
  folder = await mkdtemp(join(tmpdir(), 'espalier-prompt-'))
  await writeFile(
    join(folder, 'espalier.yaml'),
    'version: 1\nproject: shop\nbranches:\n  main: { primary: { size: 2 } }\n  old: { primary: absent }\n',
  )
})
afterEach(() => sandbox.close())

/** The long run uses a real terminal. */
const run = isLong && hasTerminal ? runOnTerminal : runInProcess

const onTerminal = async (
  args: readonly string[],
  answers: readonly (readonly [question: string, answer: string | (() => Promise<string>)])[],
) => {
  const { code, text, missed } = await run({
    args,
    cwd: folder,
    env: environmentOf(sandbox),
    interactions: answers.map(([after, type]) => ({ after, type })),
  })
  return { code, screen: text, unasked: missed }
}

const sizes = async (): Promise<Readonly<Record<string, number | undefined>>> => {
  const response = await fetch(`${sandbox.apiUrl}/projects/shop/endpoints`, {
    headers: { authorization: `Bearer ${sandbox.apiKey}` },
  })
  const { endpoints } = (await response.json()) as { endpoints: { id: string; autoscaling_limit_max_cu: number }[] }
  return Object.fromEntries(endpoints.map((one) => [one.id, one.autoscaling_limit_max_cu]))
}

const APPLY = "Only 'yes' will be accepted: "
const DELETE = 'Allow it? (yes/no) '
const AGAIN = 'Type yes or no: '
/** Another writer resizes the primary of main as soon as the project is unlocked. */
const resize = async (cu: number): Promise<void> => {
  const endpoint = { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu }
  for (let status = 423; status === 423; ) {
    ;({ status } = await fetch(`${sandbox.apiUrl}/projects/shop/endpoints/ep-main`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ endpoint }),
    }))
  }
}

describe('while apply waits for confirmation', () => {
  const deciding = (cu: number) => async () => {
    await resize(cu)
    return 'yes\n'
  }

  // promise: changes-during-prompt
  test('apply shows the new plan and asks again if the project changes', async () => {
    const { code, screen, unasked } = await onTerminal(
      ['apply', '--allow', 'delete'],
      [
        [APPLY, deciding(3)],
        ['The project has changed since the plan above was made', ''],
        ['3 → 2 CU', 'yes\n'],
      ],
    )
    expect([code, unasked], screen).toEqual([0, []])
    expect(await sizes()).toEqual({ 'ep-main': 2 })
  })

  test('apply changes nothing if the answer to the new plan is no', async () => {
    const { code, screen } = await onTerminal(
      ['apply', '--allow', 'delete'],
      [
        [APPLY, deciding(3)],
        ['The project has changed since the plan above was made', 'no\n'],
      ],
    )
    expect(code, screen).toBe(1)
    expect(await sizes()).toEqual({ 'ep-main': 3, 'ep-old': 1 })
  })

  test('apply asks nothing more if another writer has already made all the changes', async () => {
    await writeFile(
      join(folder, 'espalier.yaml'),
      'version: 1\nproject: shop\nbranches: { main: { primary: { size: 2 } } }\n',
    )
    const { code, screen } = await onTerminal(['apply'], [[APPLY, deciding(2)]])
    expect(code, screen).toBe(0)
    expect(screen).toContain('No changes')
  })

  // hint: Find out who else is changing it with `espalier operations list`, then apply again.
  test('apply gives up on a project that keeps changing', async () => {
    const { code, screen } = await onTerminal(
      ['apply', '--allow', 'delete'],
      [
        [APPLY, deciding(3)],
        ['The project has changed', deciding(6)],
        ['6 → 2 CU', deciding(9)],
      ],
    )
    expect(code, screen).toBe(4)
    expect(screen).toContain('The project changed each time the plan was shown')
    expect((await onTerminal(['operations', 'list'], [])).screen).toContain('apply_config')
    const again = await onTerminal(['apply', '--auto-approve', '--allow', 'delete'], [])
    expect(again.code, again.screen).toBe(0)
    expect(await sizes()).toEqual({ 'ep-main': 2 })
  })
})

describe('the prompt of apply', () => {
  // promise: approval
  test('asks separately for each impact that is more severe than a restart', async () => {
    const { code, screen, unasked } = await onTerminal(
      ['apply'],
      [
        [APPLY, 'yes\n'],
        [DELETE, 'no\n'],
      ],
    )
    expect({ code, unasked }, screen).toEqual({ code: 3, unasked: [] })
    expect(screen).toContain(
      '1 step deletes a compute: its host is lost delete primary on old (ep-old) Allow it? (yes/no) no',
    )
    expect(screen).toContain('not-consented')
    expect(await sizes()).toEqual({ 'ep-main': 2, 'ep-old': 1 })
  })

  test('runs a step whose consent was given', async () => {
    const { code, screen } = await onTerminal(
      ['apply'],
      [
        [APPLY, 'yes\n'],
        [DELETE, 'yes\n'],
      ],
    )
    expect(code, screen).toBe(0)
    expect(await sizes()).toEqual({ 'ep-main': 2 })
  })

  test('does not ask for a consent that --allow includes', async () => {
    const { code, screen, unasked } = await onTerminal(
      ['apply', '--allow', 'delete'],
      [
        [APPLY, 'yes\n'],
        [DELETE, 'yes\n'],
      ],
    )
    expect({ code, unasked }, screen).toEqual({ code: 0, unasked: [DELETE] })
  })

  const refusals = [
    ['no', 'no\n'],
    ['n', 'n\n'],
    ['Ctrl-C', CTRL_C],
    ['the end of input', CTRL_D],
  ] as const
  test.each(refusals)('treats %s as no and changes nothing', async (_what, answer) => {
    const { code, screen } = await onTerminal(['apply'], [[APPLY, answer]])
    expect(code, screen).toBe(1)
    expect(screen).toContain('Not applied: nothing was changed.')
    expect(await sizes()).toEqual({ 'ep-main': 1, 'ep-old': 1 })
  })

  test.each(['y', ''])('asks again after the answer %j, which is neither yes nor no', async (answer) => {
    const { code, screen, unasked } = await onTerminal(
      ['apply', '--allow', 'delete'],
      [
        [APPLY, `${answer}\n`],
        [answer === '' ? AGAIN : `'${answer}' is neither yes nor no. ${AGAIN}`, 'yes\n'],
      ],
    )
    expect({ code, unasked }, screen).toEqual({ code: 0, unasked: [] })
    expect(await sizes()).toEqual({ 'ep-main': 2 })
  })

  test('does not appear if all steps wait for restart windows', async () => {
    await writeFile(
      join(folder, 'espalier.yaml'),
      `version: 1\nproject: shop\nrestartWindow: { days: [${far()}], from: "02:00", to: "04:00", timezone: UTC }\nbranches:\n  main: { primary: { size: 2 } }\n`,
    )
    const { code, screen, unasked } = await onTerminal(['apply'], [[APPLY, 'yes\n']])
    expect({ code, unasked }, screen).toEqual({ code: 5, unasked: [APPLY] })
  })
})

describe('the prompt of init', () => {
  // hint: Run `espalier init` again, or use --project ID.
  test.each([
    ['bakery', 0],
    ['Bak*', 0],
    ['nowhere', 1],
  ])('asks which of several projects to import, and after the answer %s, init exits with %i', async (answer, code) => {
    const created = await fetch(`${sandbox.apiUrl}/projects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project: { name: 'bakery' } }),
    })
    const { project } = (await created.json()) as { project: { id: string } }
    await rm(join(folder, 'espalier.yaml'))
    const line = answer === 'bakery' ? project.id : answer
    const ended = await onTerminal(
      ['init', '--manifests-only'],
      [['Press Enter to import all of them, or type an id, a name or a glob: ', `${line}\n`]],
    )
    expect(ended.code, ended.screen).toBe(code)
    expect(ended.screen).toContain('The key has access to 2 projects')
    const written = await readFile(join(folder, 'espalier.yaml'), 'utf8').catch(() => undefined)
    if (code === 0) expect(written).toContain(`project: ${project.id}\n`)
    else {
      expect(written).toBeUndefined()
      expect((await onTerminal(['init', '--manifests-only', '--project', project.id], [])).code).toBe(0)
    }
  })
})

/** A weekday that is neither today nor adjacent to it. */
const far = (): string => ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][(new Date().getUTCDay() + 3) % 7] ?? ''
