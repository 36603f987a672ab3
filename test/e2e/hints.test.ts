/** Each hint that names a command or an edit is followed here, in the situation that prints it. See scripts/hints.ts. */
import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSeed, type Seed } from '../../src/sandbox/index.ts'
import { espalier } from './espalier.ts'
import { environmentOf } from './real-computes.ts'
import { liveComputes, onOperation, SHOP, stage } from './stage.ts'

describe('live projects', () => {
  // hint: espalier import --project … --out ……
  test.each([
    ['espalier.yaml', 'espalier.yaml'],
    ['espalier/shop.yaml', 'espalier/p-2.yaml'],
  ])('undeclared ones are declared by an import, if the manifests are in %s', async (manifest, out) => {
    const computes = [{ size: 1, scaleToZero: 'never' }]
    const others = ['p-2', 'p-3'].map((id) => ({ id, name: `name of ${id}`, branches: [{ name: 'main', computes }] }))
    const shop = await stage(
      undefined,
      parseSeed(JSON.stringify({ projects: [...SHOP.projects, ...others] }), 'seed.yaml'),
    )
    await mkdir(join(shop.folder, dirname(manifest)), { recursive: true })
    await shop.write(manifest, 'version: 1\nproject: shop\nbranches: { main: { primary: {} } }\n')
    const first = await shop.run('status')
    expect(first.text).toContain(
      `Note 2 projects that the key can access are not declared: name of p-2, name of p-3. To declare name of p-2, run \`espalier import --project p-2 --out ${out}\`.`,
    )
    expect((await shop.run('init', '--manifests-only')).text).toContain(
      'not declared 2 projects that the key can access',
    )
    expect((await shop.follow(first, 'To declare name of p-2, run `')).code).toBe(0)
    const second = await shop.run('status')
    expect(second.text).toContain('Note 1 project that the key can access is not declared: name of p-3.')
    expect((await shop.follow(second, 'To declare name of p-3, run `')).code).toBe(0)
    expect((await shop.run('status')).text).not.toContain('Note')
    expect((await shop.run('init', '--manifests-only')).text).not.toContain('not declared')
  })
})

describe('planning', () => {
  // hint: or delete it: `espalier compute delete … --project …`.
  test('a primary that is in the way is deleted alone', async () => {
    const shop = await stage('branches: { main: { primary: { id: ep-staging } } }')
    const planned = await shop.run('plan')
    expect(planned.text).toContain('Branch `main` already has the primary ep-main')
    expect((await shop.follow(planned, 'or delete it: `', '--auto-approve')).code).toBe(0)
    expect(await liveComputes(shop)).toEqual(['ep-bi', 'ep-staging'])
    expect((await shop.run('plan')).text).toContain('1 to move, 0 to delete.')
  })

  // hint: Pin … on another branch (`id: …`)
  test('a primary that is in the way is pinned on another branch', async () => {
    const shop = await stage('branches: { main: { primary: { id: ep-staging } } }')
    expect((await shop.run('plan')).text).toContain('Pin ep-main on another branch (`id: ep-main`)')
    await shop.declare('branches: { main: { primary: { id: ep-staging } }, spare: { primary: { id: ep-main } } }')
    expect((await shop.run('plan')).text).toContain('2 to move, 0 to delete.')
  })

  // hint: Set `parkOn` to a branch that has no primary: one of the computes is moved there temporarily.
  test('a cycle of moves is resolved without deleting anything', async () => {
    const swap = 'branches: { main: { primary: { id: ep-staging } }, staging: { primary: { id: ep-main } } }'
    const shop = await stage(swap)
    expect((await shop.run('plan')).text).toContain('hint: Set `parkOn` to a branch that has no primary')
    await shop.declare(`parkOn: spare\n${swap}`)
    expect((await shop.run('plan')).text).toContain('2 to move, 0 to delete.')
  })

  // hint: If `…` was renamed to `…`, write `renamedFrom: …` under `…`
  test('a renamed replica keeps its compute', async () => {
    const shop = await stage('branches: { main: { replicas: { olap: { size: 1 } } } }')
    expect((await shop.run('plan')).text).toContain('write `renamedFrom: bi` under `olap`')
    await shop.declare('branches: { main: { replicas: { olap: { renamedFrom: bi, size: 1 } } } }')
    const { text } = await shop.run('plan')
    expect(text).toContain('0 to create, 1 to update, 0 to delete.')
    expect(text).not.toContain('W_RENAMED')
  })
})

describe('applying', () => {
  // hint: Next: to allow …, run `espalier apply… --allow …`.
  test('consent does not seem to allow what is refused', async () => {
    const shop = await stage('branches:\n  main: { primary: absent, protect: true }\n  staging: { primary: absent }\n')
    const applied = await shop.run('apply', '--auto-approve')
    expect(applied.text).toContain('(refused): Refused: ')
    const allowed = await shop.follow(applied, 'Next: to allow the steps that are not refused, run `', '--auto-approve')
    expect(allowed.text).not.toContain('Next: to allow')
    expect(await liveComputes(shop)).toEqual(['ep-bi', 'ep-main'])
  })

  // hint: Next: change what …, or run `espalier apply……`.
  test('a denial of a policy is overridden', async () => {
    const shop = await stage('branches: { main: { primary: { size: 4 } } }')
    await shop.write(
      'espalier.policy.yaml',
      'version: 1\npolicies:\n  - { name: small, level: deny, rule: { maxSize: 2 }, reason: Large computes are expensive. }\n',
    )
    const applied = await shop.run('apply', '--auto-approve')
    expect(applied.text).toContain('(refused): Refused: ')
    const { text } = await shop.follow(applied, 'Next: change what the policy denies, or run `', '--auto-approve')
    expect(text).toContain('Apply complete: 1 done.')
  })

  // hint: Next: find out why operations failed… in project …: run `espalier operations list --project …`.
  test('a failed operation is not said to continue', async () => {
    const shop = await stage('branches: { main: { primary: { size: 2 } } }')
    shop.sandbox.control.addFault(onOperation({ kind: 'error', message: 'no host had room' }))
    const applied = await shop.run('apply', '--auto-approve')
    expect(applied.text).not.toContain('It continues where it stopped')
    expect(applied.text).toContain('Its change may not be in effect, even if the next plan shows no difference.')
    const listed = await shop.follow(applied, 'Next: find out why operations failed in project shop: run `')
    expect(listed.text).toContain('Error')
  })

  // hint: Next: fix the cause of each failure, then run `espalier apply…` again.
  test('a rejected request is sent again', async () => {
    const shop = await stage('branches: { main: { primary: { size: 2 } } }')
    shop.sandbox.control.addFault({ on: 'request', method: 'PATCH', effect: { kind: 'status', status: 422 } })
    const applied = await shop.run('apply', '--auto-approve')
    const again = await shop.follow(applied, 'Next: fix the cause of each failure, then run `', '--auto-approve')
    expect(again.text).toContain('Apply complete: 1 done.')
  })
})

describe('reading', () => {
  // hint: To write manifests for your live projects, run: espalier init.
  test.each([[[]], [['empty']]])('without manifests in %j, init writes them', async (paths) => {
    const shop = await stage()
    await mkdir(join(shop.folder, 'empty'))
    const planned = await shop.run('plan', ...paths)
    expect(planned.text).toContain('E_NO_MANIFESTS')
    expect((await shop.follow(planned, 'run: ')).code).toBe(0)
    expect((await shop.run('plan')).text).toContain('No changes.')
  })

  // hint: If … is the sandbox's folder or seed, write: --sandbox=…
  test('a seed after --sandbox is passed to it', async () => {
    const shop = await stage('branches: { main: { primary: { size: 2 } } }')
    await shop.write('seed.yaml', JSON.stringify(SHOP))
    const run = async (...args: readonly string[]) => (await espalier(['plan', ...args], {}, shop.folder)).stdout
    const { stderr } = await espalier(['plan', '--sandbox', 'seed.yaml'], {}, shop.folder)
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('write: --sandbox=seed.yaml')
    expect(await run('--sandbox=seed.yaml')).toContain('1 to update')
  })

  // hint: To show resolved manifests, run: espalier show --resolved …
  test('show resolves a manifest', async () => {
    const shop = await stage('branches: { main: { primary: { size: 2 } } }')
    const shown = await shop.run('show', 'espalier.yaml')
    expect(shown.text).toContain('espalier.yaml is not a saved plan')
    expect((await shop.follow(shown, 'run: ')).text).toContain('size: 2')
  })

  // hint: To start one, run: espalier sandbox serve. Otherwise correct --base-url.
  test('a refused connection is reported with the address at once', async () => {
    const shop = await stage('branches: { main: { primary: {} } }')
    await shop.sandbox.close()
    const startedAt = performance.now()
    const { code, text } = await shop.run('plan')
    expect(code).toBe(1)
    expect(text).toContain(`The control API at ${shop.sandbox.apiUrl} refuses connections`)
    expect(text).toContain('hint: Is the sandbox running? To start one, run: espalier sandbox serve.')
    expect(performance.now() - startedAt).toBeLessThan(3_000)
  })

  test('projects that cannot be read for the same reason are reported once', async () => {
    const projects = Array.from({ length: 39 }, (_, at) => ({ id: `x-${at}`, branches: [{ name: 'main' }] }))
    const shop = await stage('branches: { main: { primary: {} } }', { projects: [...SHOP.projects, ...projects] })
    await shop.write(
      'others.yaml',
      `version: 1\nprojects: [${projects.map(({ id }) => id).join(', ')}]\nbranches: { main: { primary: {} } }\n`,
    )
    shop.sandbox.control.addFault({
      on: 'request',
      path: '/projects/x-*/branches',
      times: 0,
      effect: { kind: 'status', status: 403, message: 'not allowed' },
    })
    const { text } = await shop.run('plan', 'espalier.yaml', 'others.yaml')
    expect(text.match(/E_PROJECT_UNREADABLE/g)).toHaveLength(1)
    expect(text).toContain('The same error in 38 other projects: x-1, x-10, x-11, x-12, x-13 and 33 more.')
  })

  test('a key that is not accepted is reported as such', async () => {
    const shop = await stage('branches: { main: { primary: {} } }')
    const env = { ...environmentOf(shop.sandbox), ESPALIER_API_KEY: 'wrong-key-123' }
    const { stderr } = await espalier(['plan'], env, shop.folder)
    expect(stderr).toMatch(/^error {2}E_KEY {2}The control API does not accept the API key: /)
  })
})

const PRIMARY = 'branches: { main: { primary: { size: 2 } } }'

describe('files', () => {
  // hint: Write one with `espalier plan --out FILE`.
  // hint: Saved to …. To apply exactly this plan, run: espalier apply ……
  test('a plan that does not exist is written, and then applied', async () => {
    const shop = await stage(PRIMARY)
    const shown = await shop.run('show', 'plan.json')
    expect(shown.text).toContain('The plan plan.json cannot be read (it does not exist).')
    expect(shown.text).toContain('Write one with `espalier plan --out FILE`')
    const saved = await shop.run('plan', '--out', 'plan.json')
    expect((await shop.follow(saved, 'run: ', '--auto-approve')).text).toContain('Apply complete: 1 done.')
  })

  // hint: …: `espalier plan --out FILE`.
  test('a stale plan is made again', async () => {
    const shop = await stage(PRIMARY)
    await shop.run('plan', '--out', 'plan.json')
    await shop.run('apply', '--auto-approve')
    expect((await shop.run('apply', 'plan.json', '--auto-approve')).text).toContain(
      'hint: Plan again and review: `espalier plan --out FILE`.',
    )
    await shop.run('plan', '--out', 'plan.json')
    expect((await shop.run('apply', 'plan.json', '--auto-approve')).code).toBe(0)
  })

  // hint: Take one with `espalier snapshot --out FILE`.
  // hint: Saved to …. To plan from it, run: espalier plan… --live …
  // hint: `apply` reads the live project. To plan from a snapshot: `espalier plan --live FILE`.
  test('a snapshot is taken, and planned from', async () => {
    const shop = await stage(PRIMARY)
    const planned = await shop.run('plan', '--live', 'live.json')
    expect(planned.text).toContain('Take one with `espalier snapshot --out FILE`')
    const taken = await shop.run('snapshot', '--out', 'live.json')
    expect((await shop.follow(taken, 'run: ')).text).toContain('1 to update')
    expect((await shop.run('apply', 'live.json')).text).toContain('`espalier plan --live FILE`')
    expect((await shop.run('plan', '--live', 'live.json')).text).toContain('1 to update')
  })

  // hint: … of … not formatted. To format, run `espalier fmt`.
  test('files are formatted', async () => {
    const shop = await stage('branches: { main: { primary: { scaleToZero: 300s } } }')
    expect((await shop.follow(await shop.run('fmt', '--check'), 'run `')).code).toBe(0)
    expect((await shop.run('fmt', '--check')).code).toBe(0)
  })
})

describe('computes', () => {
  // hint: To wake it instead, run: espalier compute start … --project …
  test('an idle compute is woken', async () => {
    const shop = await stage()
    await shop.run('compute', 'suspend', 'main', '--project', 'shop', '--auto-approve')
    const refused = await shop.run('compute', 'restart', 'main', '--project', 'shop', '--auto-approve')
    expect((await shop.follow(refused, 'run: ', '--auto-approve')).code).toBe(0)
  })

  // hint: Correct them (`espalier validate` shows the errors), or run this command in a folder without them.
  test('errors in manifests are shown', async () => {
    const shop = await stage('branches: { main: { primary: { size: 3.5 } } }')
    const refused = await shop.run('compute', 'restart', 'main', '--project', 'shop', '--auto-approve')
    expect((await shop.follow(refused, 'Correct them (`')).text).toContain('E_SIZE')
  })
})

// hint: Run `espalier explain` to list all codes.
test('all codes are listed', async () => {
  const shop = await stage()
  const unknown = await shop.run('explain', 'E_NOPE')
  expect((await shop.follow(unknown, 'Run `')).text).toContain('E_PRIMARY_TAKEN')
})

// hint: Use --auto-approve, and use --allow for changes that --auto-approve does not permit.
test('without a terminal, the plan can be shown and applied', async () => {
  const shop = await stage(PRIMARY)
  const refused = await shop.run('apply')
  expect((await shop.follow(refused, 'To see what would change, run `')).text).toContain('1 to update')
  expect((await shop.run('apply', '--auto-approve')).code).toBe(0)
})

// hint: If this is correct, pin it with `id: …`.
test('an adopted replica is pinned', async () => {
  const [project] = SHOP.projects
  const nameless = { type: 'read_only', id: 'ep-nameless', size: 1 } as const
  const seed: Seed = { projects: [{ ...project, id: 'shop', branches: [{ name: 'main', computes: [nameless] }] }] }
  const shop = await stage('branches: { main: { replicas: { bi: { size: 1 } } } }', seed)
  expect((await shop.run('plan')).text).toContain('pin it with `id: ep-nameless`')
  await shop.declare('branches: { main: { replicas: { bi: { id: ep-nameless, size: 1 } } } }')
  const { text } = await shop.run('plan')
  expect(text).not.toContain('W_ADOPTED')
  expect(text).toContain('0 to create, 1 to update, 0 to delete.')
})

test('a mistyped git ref is corrected', async () => {
  const shop = await stage(PRIMARY)
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: shop.folder })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first')
  expect((await shop.run('plan', '--base', 'mian')).text).toContain('hint: Did you mean `main`?')
  expect((await shop.run('plan', '--base', 'main')).text).toContain('size 1 CU → 2 CU')
})
