/** Each hint that names a command or an edit is followed here, in the situation that prints it. See scripts/hints.ts. */
import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSeed, type Seed } from '../../src/sandbox/index.ts'
import { espalier, espalierAsProcess } from '../e2e/espalier.ts'
import { environmentOf } from '../e2e/real-computes.ts'
import { liveComputes, onOperation, printed, SHOP, stage } from '../e2e/stage.ts'
import type { Environment } from '../in-process.ts'

describe('live projects', () => {
  // hint: espalier import --project … --out …
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
    expect((await shop.run('plan')).text).toContain('1 to move.')
  })

  // hint: Pin … on another branch (`id: …`)
  test('a primary that is in the way is pinned on another branch', async () => {
    const shop = await stage('branches: { main: { primary: { id: ep-staging } } }')
    expect((await shop.run('plan')).text).toContain('Pin ep-main on another branch (`id: ep-main`)')
    await shop.declare('branches: { main: { primary: { id: ep-staging } }, spare: { primary: { id: ep-main } } }')
    expect((await shop.run('plan')).text).toContain('2 to move.')
  })

  // hint: Set `parkOn` to an unprotected branch that has no primary: one of the computes is moved there temporarily.
  test('a cycle of moves is resolved without deleting anything', async () => {
    const swap = 'branches: { main: { primary: { id: ep-staging } }, staging: { primary: { id: ep-main } } }'
    const shop = await stage(swap)
    expect((await shop.run('plan')).text).toContain('hint: Set `parkOn` to an unprotected branch that has no primary')
    await shop.declare(`parkOn: spare\n${swap}`)
    expect((await shop.run('plan')).text).toContain('2 to move.')
  })

  // hint: If `…` was renamed to `…`, write `renamedFrom: …` under `…`
  test('a renamed replica keeps its compute', async () => {
    const shop = await stage('branches: { main: { replicas: { olap: { size: 1 } } } }')
    expect((await shop.run('plan')).text).toContain('write `renamedFrom: bi` under `olap`')
    await shop.declare('branches: { main: { replicas: { olap: { renamedFrom: bi, size: 1 } } } }')
    const { text } = await shop.run('plan')
    expect(text).toContain('Plan: 1 to update.')
    expect(text).not.toContain('W_RENAMED')
  })

  // hint: If `…` was moved to this branch, write `id: …` under it
  test('a replica that is moved to another branch keeps its compute', async () => {
    const shop = await stage('branches: { main: { primary: {} }, staging: { replicas: { bi: { size: 1 } } } }')
    expect((await shop.run('plan')).text).toContain('write `id: ep-bi` under it')
    await shop.declare('branches: { main: { primary: {} }, staging: { replicas: { bi: { id: ep-bi, size: 1 } } } }')
    const { text } = await shop.run('plan')
    expect(text).toContain('Plan: 1 to move.')
    expect(text).not.toContain('W_RENAMED')
  })
})

describe('applying', () => {
  // hint: Next: to allow …, run `espalier apply --allow …`.
  test('consent does not seem to allow what is refused', async () => {
    const shop = await stage('branches:\n  main: { primary: absent, protect: true }\n  staging: { primary: absent }\n')
    const applied = await shop.run('apply', '--auto-approve')
    expect(applied.text).toContain('(refused): Refused: ')
    const allowed = await shop.follow(applied, 'Next: to allow the steps that are not refused, run `', '--auto-approve')
    expect(allowed.text).not.toContain('Next: to allow')
    expect(await liveComputes(shop)).toEqual(['ep-bi', 'ep-main'])
  })

  // hint: Next: change what …, or run `espalier apply…`.
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
  // hint: espalier compute … … --project …
  test('a failed operation stays visible until its compute is restarted', async () => {
    const shop = await stage('branches: { main: { primary: { size: 2 } } }')
    const commit = (...args: readonly string[]) => execFileSync('git', args, { cwd: shop.folder })
    commit('init', '-q')
    commit('add', '.')
    commit('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first')
    shop.sandbox.control.addFault(onOperation({ kind: 'error', message: 'no host had room' }))
    const applied = await shop.run('apply', '--auto-approve')
    expect(applied.code).toBe(3)
    expect(applied.text).not.toContain('It continues where it stopped')
    expect(applied.text).toContain('Its change may not be in effect, even if the next plan shows no difference.')
    const listed = await shop.follow(applied, 'Next: find out why operations failed in project shop: run `')
    expect(listed.text).toContain('Error')
    const repair = 'run `espalier compute restart ep-main --project shop`.'
    expect(applied.text).toContain(`Once the cause is fixed, ${repair}`)
    const codes: Record<string, number | null> = {}
    for (const command of ['plan', 'plan --detailed-exitcode', 'apply --auto-approve', 'status', 'drift']) {
      const { code, text } = await shop.run(...command.split(' '))
      expect(text, command).toContain('W_UNSETTLED')
      expect(text, command).toContain(repair)
      if (/^(plan|apply)/.test(command)) expect(text).toContain('No changes to apply: 1 compute unsettled.')
      codes[command] = code
    }
    expect(codes).toEqual({
      plan: 0,
      'plan --detailed-exitcode': 2,
      'apply --auto-approve': 0,
      status: 0,
      drift: 2,
    })
    expect((await shop.run('status', '-o', 'json')).text).toContain('"repair": "restart"')
    expect(JSON.parse((await shop.run('drift', '-o', 'json')).text)).toMatchObject({
      unsettled: [{ code: 'W_UNSETTLED' }],
    })
    const planned = await shop.run('plan')
    const repaired = await shop.follow(planned, 'which drops its connections, run `', '--auto-approve')
    expect(repaired.code, repaired.text).toBe(0)
    const { code, text } = await shop.run('plan', '--detailed-exitcode')
    expect(code, text).toBe(0)
    expect((await shop.run('drift')).code).toBe(0)
  })

  // hint: An earlier wave, …, is not settled: … … on … of project … …. To settle it, run `…`, then `espalier apply` again.
  test('a wave is settled by hand', async () => {
    const computes = [{ size: 1, scaleToZero: 'never' as const }]
    const projects = ['canary', 'shop'].map((id) => ({ id, branches: [{ name: 'main', computes }] }))
    const fleet = await stage(undefined, { projects })
    await fleet.write('shared.yaml', 'version: 1\nwaves: [{ name: canary, projects: [canary] }]\n')
    for (const { id } of projects)
      await fleet.write(
        `${id}.yaml`,
        `version: 1\nproject: ${id}\nextends: shared.yaml\nbranches: { main: { primary: { size: 2 } } }\n`,
      )
    const apply = ['apply', 'canary.yaml', 'shop.yaml', '--auto-approve']
    fleet.sandbox.control.addFault(onOperation({ kind: 'error', message: 'no host had room' }))
    expect((await fleet.run(...apply)).code).toBe(3)
    const again = await fleet.run(...apply)
    expect(again.code).toBe(3)
    expect((await fleet.follow(again, 'To settle it, run `', '--auto-approve')).code).toBe(0)
    expect((await fleet.run(...apply)).text).toContain('Apply complete: 1 done.')
  })

  // hint: Next: fix the cause of each failure, then run `espalier apply` again.
  test('a rejected request is sent again', async () => {
    const shop = await stage('branches: { main: { primary: { size: 2 } } }')
    shop.sandbox.control.addFault({ on: 'request', method: 'PATCH', effect: { kind: 'status', status: 422 } })
    const applied = await shop.run('apply', '--auto-approve')
    const again = await shop.follow(applied, 'Next: fix the cause of each failure, then run `', '--auto-approve')
    expect(again.text).toContain('Apply complete: 1 done.')
  })
})

describe('reading', () => {
  // hint: To write manifests for your live projects, run `espalier init`.
  test.each([[[]], [['empty']]])('without manifests in %j, init writes them', async (paths) => {
    const shop = await stage()
    await mkdir(join(shop.folder, 'empty'))
    const planned = await shop.run('plan', ...paths)
    expect(planned.text).toContain('E_NO_MANIFESTS')
    expect((await shop.follow(planned, 'run `')).code).toBe(0)
    expect((await shop.run('plan')).text).toContain('No changes.')
  })

  // hint: If … is the sandbox's folder or seed, write: --sandbox=…
  test.each([
    ['plan', '1 to update'],
    ['status', '1 differs'],
    ['cost', 'CU-hours a month'],
  ])('a seed after --sandbox of %s is passed to it', async (command, shown) => {
    const shop = await stage('branches: { main: { primary: { size: 2 } } }')
    await shop.write('seed.yaml', JSON.stringify(SHOP))
    const { stderr } = await espalier([command, '--sandbox', 'seed.yaml'], {}, shop.folder)
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('write: --sandbox=seed.yaml')
    expect((await espalier([command, '--sandbox=seed.yaml'], {}, shop.folder)).stdout).toContain(shown)
  })

  // hint: To show resolved manifests, run `espalier show --resolved …`.
  test('show resolves a manifest', async () => {
    const shop = await stage('branches: { main: { primary: { size: 2 } } }')
    const shown = await shop.run('show', 'espalier.yaml')
    expect(shown.text).toContain('espalier.yaml is not a saved plan')
    expect((await shop.follow(shown, 'run `')).text).toContain('size: 2')
  })

  // hint: To start one, run: espalier sandbox serve. Otherwise correct --base-url.
  test('a refused connection is reported with the address, which is the last that the process prints', async () => {
    const shop = await stage('branches: { main: { primary: {} } }')
    const others = Array.from({ length: 20 }, (_, at) => `x-${at}`).join(', ')
    await shop.write('others.yaml', `version: 1\nprojects: [${others}]\nbranches: { main: { primary: {} } }\n`)
    await shop.sandbox.close()
    const args = ['plan', 'espalier.yaml', 'others.yaml']
    const { code, text } = printed(await espalierAsProcess(args, environmentOf(shop.sandbox), shop.folder))
    expect(code).toBe(1)
    expect(text).toMatch(/^error E_NETWORK The control API at \S+ refuses connections .* correct --base-url\. $/)
    expect(text).toContain(` ${shop.sandbox.apiUrl} `)
    expect(text).toContain('hint: Is the sandbox running? To start one, run: espalier sandbox serve.')
  })

  test.each([
    [403, 'The API key is not allowed to make this request'],
    [401, 'The key is wrong or revoked'],
  ])('steps that fail with the same status %i are reported once, with their number', async (status, hint) => {
    const ids = Array.from({ length: 20 }, (_, at) => `x-${at}`)
    const computes = [{ size: 1 }]
    const shop = await stage(undefined, { projects: ids.map((id) => ({ id, branches: [{ name: 'main', computes }] })) })
    const all = `version: 1\nprojects: [${ids.join(', ')}]\nbranches: { main: { primary: { size: 2 } } }\n`
    await shop.write('espalier.yaml', all)
    shop.sandbox.control.addFault({
      on: 'request',
      method: 'PATCH',
      times: 0,
      effect: { kind: 'status', status, message: 'not allowed' },
    })
    const { text } = await shop.run('apply', '--auto-approve', '--allow', 'restart')
    expect(text.split(': not allowed'), 'when the first step fails, and at the end').toHaveLength(3)
    expect(text).toMatch(new RegExp(`failed 20 steps \\(auth\\): [^.]+\\. Nothing was changed by this step\\. ${hint}`))
    expect(text).toMatch(/ update primary on main in x-0 \(\S+\) update primary on main in x-1 .* and 8 more Next: /)
  })

  test('projects that cannot be imported for the same reason are reported once', async () => {
    const ids = ['first', ...Array.from({ length: 39 }, (_, at) => `x-${at}`)]
    const shop = await stage(undefined, { projects: ids.map((id) => ({ id, branches: [{ name: 'main' }] })) })
    shop.sandbox.control.addFault({
      on: 'request',
      path: '/projects/x-*/endpoints',
      times: 39,
      effect: { kind: 'status', status: 403, message: 'not allowed' },
    })
    const { code, text } = await shop.run('import')
    expect(code).toBe(1)
    expect(text.split('not allowed (')).toHaveLength(2)
    expect(text).toMatch(/The same error in 38 other projects: x-\d+, .* and 33 more\./)
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
})

const PRIMARY = 'branches: { main: { primary: { size: 2 } } }'

describe('files', () => {
  // hint: Write one with `espalier plan --out FILE`.
  // hint: To apply exactly this plan, run `espalier apply …`.
  test('a plan that does not exist is written, and then applied', async () => {
    const shop = await stage(PRIMARY)
    const shown = await shop.run('show', 'plan.json')
    expect(shown.text).toContain('The plan plan.json cannot be read (it does not exist).')
    expect(shown.text).toContain('Write one with `espalier plan --out FILE`')
    const saved = await shop.run('plan', '--out', 'plan.json')
    expect((await shop.follow(saved, 'run `', '--auto-approve')).text).toContain('Apply complete: 1 done.')
  })

  test('a plan with a refused change is not stale because a comment was added above its protection', async () => {
    const body = 'branches:\n  main: { protect: true, replicas: { bi: absent } }\n  staging: { primary: { size: 2 } }'
    const shop = await stage(body)
    await shop.run('plan', '--out', 'plan.json')
    await shop.declare(`# Reporting has moved\n${body}`)
    const applied = await shop.run('apply', 'plan.json', '--auto-approve')
    expect(applied.text).toContain('Apply incomplete: 1 done, 1 not allowed.')
  })

  // hint: Take one with `espalier snapshot --out FILE`.
  // hint: To plan from it, run `espalier plan --live …`.
  // hint: `apply` reads the live project. To plan from a snapshot: `espalier plan --live FILE`.
  test('a snapshot is taken, and planned from', async () => {
    const shop = await stage(PRIMARY)
    const planned = await shop.run('plan', '--live', 'live.json')
    expect(planned.text).toContain('Take one with `espalier snapshot --out FILE`')
    const taken = await shop.run('snapshot', '--out', 'live.json')
    expect((await shop.follow(taken, 'run `')).text).toContain('1 to update')
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
  expect(text).toContain('Plan: 1 to update.')
})

const TWINS: Seed = {
  projects: [
    {
      id: 'shop',
      branches: [
        {
          name: 'main',
          computes: [
            { id: 'ep-main', size: 1, disabled: true },
            { id: 'ep-bi-1', type: 'read_only', name: 'bi', size: 1 },
            { id: 'ep-bi-2', type: 'read_only', name: 'bi', size: 1 },
          ],
        },
      ],
    },
    { id: 'shop-2', branches: [{ name: 'main' }] },
  ],
}
const DAILY = (per = ''): string =>
  `version: 1\npolicies:\n  - { name: few, level: deny, reason: cost, rule: { maxRestarts: 9 }${per} }\n`

interface Mistake {
  readonly hint: string
  readonly run: string
  /** The corrected command. Default: the same one. */
  readonly corrected?: string
  /** A file, by what it was and what the hint makes of it. */
  readonly file?: readonly [path: string, before: string, after: string]
  readonly env?: (env: Environment) => Environment
}

const addressed =
  (change: (url: string) => string) =>
  (env: Environment): Environment => ({ ...env, ESPALIER_BASE_URL: change(env.ESPALIER_BASE_URL ?? '') })

// hint: Use --format json, and redirect stdout to write a file.
// hint: Name a file: --html page.html.
// hint: Name another file with --html.
// hint: Use --auto-approve.
// hint: Write --override NAME=REASON.
// hint: Use a wider --branch.
// hint: Name the project by its id or name: run `espalier … --project …`.
// hint: Choose one by its id: ….
// hint: Use its id.
// hint: Set `disabled: false` in its manifest, then run `espalier apply`.
// hint: Remove `per: day`, or pass the policy only to `agent run`, with --policy.
// hint: Set ESPALIER_API_KEY or NEON_API_KEY, or use --api-key-file FILE. To try Espalier without an account, use --sandbox=SEED.yaml.
// hint: Copy it again: a key is one line of letters, digits and punctuation.
// hint: Set the key in ESPALIER_API_KEY.
// hint: Use https. Plain http is only allowed to this machine (127.0.0.1, localhost, ::1).
test.each<Mistake>([
  {
    hint: 'Use --format json, and redirect stdout to write a file.',
    run: 'show --resolved espalier.yaml --format markdown',
    corrected: 'show --resolved espalier.yaml --format json',
  },
  { hint: 'Name a file: --html page.html.', run: 'plan --html -', corrected: 'plan --html page.html' },
  { hint: 'Name another file with --html.', run: 'plan --html no/where.html', corrected: 'plan --html page.html' },
  { hint: 'Use --auto-approve.', run: 'compute restart ep-bi-1', corrected: 'compute restart ep-bi-1 --auto-approve' },
  {
    hint: 'Write --override NAME=REASON.',
    run: 'plan --override few',
    corrected: 'plan --override few=test',
    file: ['espalier.policy.yaml', DAILY(), DAILY()],
  },
  {
    hint: 'Use a wider --branch.',
    run: 'import --project shop --branch x*',
    corrected: 'import --project shop --branch *',
  },
  {
    hint: 'Name the project by its id or name: run',
    run: 'compute restart ep-bi-1 --auto-approve',
    corrected: 'compute restart ep-bi-1 --auto-approve --project shop',
    file: ['espalier.yaml', 'version: 1\nprojects: [shop, shop-2]\n', 'version: 1\nprojects: [shop, shop-2]\n'],
  },
  {
    hint: 'Choose one by its id: shop, shop-2.',
    run: 'operations list --project shop*',
    corrected: 'operations list --project shop',
  },
  {
    hint: 'Use its id.',
    run: 'compute restart main/bi --auto-approve',
    corrected: 'compute restart ep-bi-1 --auto-approve',
  },
  {
    hint: 'Remove `per: day`, or pass the policy only to `agent run`, with --policy.',
    run: 'plan',
    file: ['espalier.policy.yaml', DAILY(', per: day'), DAILY()],
  },
  {
    hint: 'Set ESPALIER_API_KEY or NEON_API_KEY, or use --api-key-file FILE.',
    run: 'plan',
    env: (env) => ({ ...env, ESPALIER_API_KEY: '' }),
  },
  {
    hint: 'Copy it again: a key is one line of letters, digits and punctuation.',
    run: 'plan',
    env: (env) => ({ ...env, ESPALIER_API_KEY: `${env.ESPALIER_API_KEY}\nx` }),
  },
  {
    hint: 'Set the key in ESPALIER_API_KEY.',
    run: 'plan',
    env: addressed((url) => url.replace('://', '://user:key@')),
  },
  {
    hint: 'Plain http is only allowed to this machine',
    run: 'plan',
    env: addressed((url) => url.replace('127.0.0.1', 'neon.example')),
  },
])('the hint "$hint" is enough to correct `espalier $run`', async ({ hint, run, corrected = run, file, env }) => {
  const shop = await stage('branches: { main: { replicas: { b: { id: ep-bi-1 } } } }', TWINS)
  const right = environmentOf(shop.sandbox)
  const asked = async (command: string, variables = right) =>
    printed(await espalier(command.split(' '), variables, shop.folder))
  if (file !== undefined) await shop.write(file[0], file[1])
  const mistaken = await asked(run, env?.(right))
  expect(mistaken).toMatchObject({ code: 1, text: expect.stringContaining(hint) })
  if (file !== undefined) await shop.write(file[0], file[2])
  const ended = await asked(corrected)
  expect(ended.code, ended.text).toBe(0)
  expect(await liveComputes(shop)).toEqual(['ep-bi-1', 'ep-bi-2', 'ep-main'])
})

test('a disabled compute is enabled in its manifest, and then started', async () => {
  const shop = await stage(undefined, TWINS)
  const start = () => shop.run('compute', 'start', 'main', '--project', 'shop')
  expect((await start()).text).toContain('Set `disabled: false` in its manifest')
  await shop.declare('branches: { main: { primary: { disabled: false } } }')
  expect((await shop.follow(await start(), 'then run `', '--auto-approve')).code).toBe(0)
  expect((await start()).code).toBe(0)
})

// hint: Name a project with --project ID.
test('a key that cannot list projects can import one', async () => {
  const shop = await stage()
  const effect = { kind: 'status', status: 403 } as const
  shop.sandbox.control.addFault({ on: 'request', method: 'GET', path: '/projects', effect, times: 0 })
  expect((await shop.run('import')).text).toContain('Name a project with --project ID.')
  expect((await shop.run('import', '--project', 'shop')).code).toBe(0)
})

// hint: Commit the manifests first.
// hint: Name a file or folder in the repository.
// hint: Use paths inside the current folder.
// hint: If it exists at the remote, run: git fetch origin (actions/checkout: fetch-depth: 0)
test('a plan is compared with a commit', async () => {
  const shop = await stage(PRIMARY)
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: shop.folder })
  git('init', '-q', '-b', 'main')
  const plan = (...args: readonly string[]) => shop.run('plan', ...args)
  expect((await plan('--base', 'main')).text).toContain('hint: Commit the manifests first.')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first')
  expect((await shop.run('drift', '-')).text).toContain('hint: Name a file or folder in the repository.')
  expect((await shop.run('drift', '.')).text).toContain('size: live 1 CU, declared 2 CU')
  await mkdir(join(shop.folder, 'sub'))
  const args = ['plan', '--base', 'main', '../espalier.yaml']
  const outside = await espalier(args, environmentOf(shop.sandbox), join(shop.folder, 'sub'))
  expect(outside.stderr).toContain('hint: Use paths inside the current folder.')
  expect((await plan('--base', 'main', '.')).text).toContain('size 1 → 2 CU')
  git('clone', '-q', '--bare', '.', 'origin.git')
  git('remote', 'add', 'origin', join(shop.folder, 'origin.git'))
  git('-C', 'origin.git', 'branch', 'base')
  expect((await plan('--base', 'origin/base')).text).toContain('run: git fetch origin')
  git('fetch', '-q', 'origin')
  expect((await plan('--base', 'origin/base')).text).toContain('size 1 → 2 CU')
  expect((await plan('--base', 'mian')).text).toContain('hint: Did you mean `main`?')
})
