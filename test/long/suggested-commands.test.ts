/** Follows suggested commands that must not do more than the command that suggests them. */
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { Seed } from '../../src/sandbox/index.ts'
import { type Stage, stage } from '../e2e/stage.ts'

const project = (id: string, size = 1): Seed['projects'][number] => ({
  id,
  branches: [
    {
      name: 'main',
      computes: [
        { id: `ep-main-${id}`, size, scaleToZero: 'never' },
        { id: `ep-bi-${id}`, type: 'read_only', name: 'bi', size: 1 },
      ],
    },
    { name: 'dev', computes: [{ id: `ep-dev-${id}`, size, scaleToZero: 'never' }] },
  ],
})
const SEED: Seed = { projects: [project('blog'), project('shop')] }

/** Both projects, with the same body. */
const fleet = async (body: string, seed = SEED): Promise<Stage> => {
  const both = await stage(undefined, seed)
  await declareBoth(both, body)
  return both
}

const declareBoth = ({ write }: Stage, body: string): Promise<void> =>
  write('espalier.yaml', `version: 1\nprojects: [blog, shop]\n${body}\n`)

const git = ({ folder }: Stage, ...args: readonly string[]): unknown =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder })

const commit = (both: Stage): void => {
  git(both, 'init', '-q', '-b', 'main')
  git(both, 'add', '.')
  git(both, 'commit', '-qm', 'first')
}

const policy = (name: string, maxSize: number): string =>
  `version: 1\npolicies: [{ name: ${name}, level: deny, reason: For a test., projects: [blog], rule: { maxSize: ${maxSize} } }]\n`

const APPLY = ['apply', '--auto-approve'] as const
const ALLOW = 'Next: to allow these steps, run `'
const DELETE = 'branches: { main: { replicas: { bi: absent } }, dev: { primary: { size: 2 } } }'

/** The ids of the computes that the steps of a run have changed. */
const changedBy = ({ text }: { readonly text: string }): readonly string[] =>
  [...text.matchAll(/done (?:update|delete) .*? \((ep-[\w-]+)\)/g)].map(([, id = '']) => id).sort()

describe('a step that was not allowed', () => {
  test('of a saved plan that changed nothing is allowed by applying the plan itself', async () => {
    const both = await fleet(DELETE)
    await both.run('plan', '--out', 'p.json', '--project', 'shop', '--branch', 'main')
    const applied = await both.run(...APPLY, 'p.json')
    expect(applied.text).toContain('run `espalier apply p.json --allow delete`')
    expect(changedBy(await both.follow(applied, ALLOW, '--auto-approve'))).toEqual(['ep-bi-shop'])
  })

  test('of a saved plan that has changed the project is allowed with the selection of the plan', async () => {
    const both = await fleet(DELETE)
    await both.run('plan', '--out', 'p.json', '--project', 'shop')
    const applied = await both.run(...APPLY, 'p.json')
    expect(changedBy(applied)).toEqual(['ep-dev-shop'])
    expect(changedBy(await both.follow(applied, ALLOW, '--auto-approve'))).toEqual(['ep-bi-shop'])
  })

  test('since a commit is allowed without correcting older drift', async () => {
    const both = await fleet('branches: { dev: { primary: { size: 2 } } }')
    commit(both)
    await declareBoth(both, DELETE)
    const applied = await both.run(...APPLY, '--base', 'HEAD', '--introduced', '--project', 'shop')
    expect(changedBy(await both.follow(applied, ALLOW, '--auto-approve'))).toEqual(['ep-bi-shop'])
  })

  test('is allowed without leaving out the policies of the command', async () => {
    const both = await fleet(DELETE)
    await both.write('small.yaml', policy('small', 1))
    const applied = await both.run(...APPLY, '--policy', 'small.yaml')
    const followed = await both.follow(
      applied,
      'Next: to allow the steps that are not refused, run `',
      '--auto-approve',
    )
    expect(changedBy(followed)).toEqual(['ep-bi-shop'])
  })
})

// hint: …: `espalier plan --out …`.
test('a stale plan is made again with its selection and policies', async () => {
  const both = await fleet('branches: { dev: { primary: { size: 2 } } }')
  await both.write('large.yaml', policy('large', 8))
  await both.run('plan', '--out', 'p.json', '--project', 'shop', '--policy', 'large.yaml')
  await both.run(...APPLY, '--project', 'shop')
  const stale = await both.run(...APPLY, 'p.json', '--policy', 'large.yaml')
  expect(stale).toMatchObject({ code: 4 })
  expect((await both.follow(stale, 'Plan again and review: `')).text).toContain('No changes.')
  expect(await both.run(...APPLY, 'p.json', '--policy', 'large.yaml')).toMatchObject({ code: 0 })
})

test('a saved plan is applied under the policies that it was made with', async () => {
  const both = await fleet('branches: { dev: { primary: { size: 2 } } }')
  await both.write('large.yaml', policy('large', 8))
  const saved = await both.run('plan', '--out', 'my plan.json', '--policy', 'large.yaml', '--project', 'shop')
  expect(changedBy(await both.follow(saved, 'To apply exactly this plan, run `', '--auto-approve'))).toEqual([
    'ep-dev-shop',
  ])
  expect(await both.run('plan', '--out', 'planfile')).toMatchObject({ code: 1 })
})

test('drift is corrected only in the projects and branches where it was found', async () => {
  // Live, both primaries of `shop` are larger than at the commit. The manifests then introduce a larger replica.
  const both = await fleet('branches: { main: { primary: { size: 1 } }, dev: { primary: { size: 1 } } }', {
    projects: [project('blog'), project('shop', 4)],
  })
  commit(both)
  await declareBoth(
    both,
    'branches: { main: { primary: { size: 1 }, replicas: { bi: { size: 2 } } }, dev: { primary: { size: 1 } } }',
  )
  const drift = await both.run('drift', '--branch', 'dev')
  expect(changedBy(await both.follow(drift, 'To restore the declared values, run `', '--auto-approve'))).toEqual([
    'ep-dev-shop',
  ])
  const whole = await both.run('drift')
  expect(whole.text).toContain(
    'run `espalier apply --project shop`, which also applies what the manifests introduced there.',
  )
  expect(changedBy(await both.follow(whole, 'To restore the declared values, run `', '--auto-approve'))).toEqual([
    'ep-bi-shop',
    'ep-main-shop',
  ])
})

// hint: To wake it instead, run `espalier compute start … --project …`.
test('commands that are suggested under --sandbox use the sandbox', async () => {
  const { write, run, follow } = await stage()
  await write('seed.yaml', JSON.stringify(SEED))
  await write(
    'espalier.yaml',
    'version: 1\nproject: shop\nbranches: { dev: { primary: { size: 1, scaleToZero: 5m } } }\n',
  )
  const sandbox = '--sandbox=seed.yaml'
  await run('compute', 'suspend', 'dev', '--auto-approve', sandbox)
  const idle = await run('compute', 'restart', 'dev', '--auto-approve', sandbox)
  const started = await follow(idle, 'To wake it instead, run `')
  expect(started.text).toContain('done start primary on dev (ep-dev-shop)')
})
