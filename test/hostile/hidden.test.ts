/** An untrusted pull request must not reveal live values, names and ids with a harmless declaration. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Seed } from '../../src/sandbox/index.ts'
import { startInProcess } from '../in-process.ts'
import { type ForkWorld, KEY, openForkWorld } from './fork-world.ts'

const seed: Seed = {
  projects: [
    {
      id: 'shop',
      name: 'SECRET-shop',
      branches: [
        {
          name: 'main',
          computes: [
            {
              id: 'ep-main',
              size: 1,
              scaleToZero: 'never',
              postgres: {
                settings: { 'app.jwt_secret': 'S3CRET-JWT', 'app.other': 'S3CRET-OTHER' },
                preload: ['S3CRET_LIBRARY'],
              },
            },
            { id: 'ep-by-hand', size: 1, type: 'read_only', name: 'SECRET-REPLICA', scaleToZero: 'never' },
          ],
        },
        {
          name: 'SECRET-acquisition',
          computes: [{ id: 'ep-hidden', size: 1, name: 'SECRET-name', scaleToZero: 'never' }],
        },
      ],
    },
  ],
}
const BASE = 'version: 1\nproject: shop\nbranches: { main: { primary: { size: 1 } } }\n'

const planOf = async (
  head: string,
  base = BASE,
  prepare?: (world: ForkWorld) => Promise<unknown>,
  live: Seed = seed,
) => {
  const world = await openForkWorld(live, { 'espalier.yaml': base })
  await prepare?.(world)
  return planIn(world, head)
}

/** Everything that the plan of this head shows to others. */
const planIn = async (world: ForkWorld, head: string) => {
  world.fork.write('espalier.yaml', head)
  world.fork.commit('head')
  world.open()
  const ended = await world.run()
  const file = ended.outputs['json-plan-path']
  const everything = [
    ended.log, // with the annotations
    ended.summary,
    JSON.stringify(ended.outputs),
    ...world.github.comments.map(({ body }) => body),
  ]
  const json = file === undefined ? '{}' : readFileSync(file, 'utf8')
  everything.push(json)
  return {
    ...ended,
    plan: JSON.parse(json),
    body: world.github.comments[0]?.body ?? '',
    everything: everything.join('\n'),
  }
}

// promise: hidden-values
test('for a declared setting, the name and the declared value are shown, but the live value is hidden', async () => {
  const { code, log, body, everything } = await planOf(
    BASE.replace('size: 1', 'size: 1, postgres: { settings: { app.jwt_secret: x } }'),
  )
  expect(code, log).toBe(0)
  expect(body).toContain('app.jwt_secret')
  expect(body).toContain('(hidden)')
  expect(everything).not.toContain('S3CRET')
  expect(body).toContain(
    'Live values of Postgres settings are hidden, and branches and computes that no manifest names',
  )
})

// promise: hidden-names
test('the digests in the comment do not cover a live name, which readers could guess', async () => {
  const base = BASE.replace('size: 1', 'id: ep-main, size: 1')
  const rename = async (name: string) => {
    const named = JSON.parse(JSON.stringify(seed).replace('"id":"ep-main",', `"id":"ep-main","name":"${name}",`))
    const { body } = await planOf(base.replace('size: 1', 'size: 1, name: mine'), base, undefined, named)
    return /<!-- espalier record .* @\d+ (.*) \| -->/.exec(body)?.[1]
  }
  expect(await rename('SECRET-one')).toMatch(/^\S{22}$/)
  expect(await rename('SECRET-one')).toBe(await rename('SECRET-two'))
})

// promise: hidden-names
test('undeclared live names, ids and values are hidden from every kind of manifest', async () => {
  const world = await openForkWorld(seed, { 'espalier.yaml': BASE })
  const shop = 'version: 1\nproject: shop\n'
  for (const head of [
    BASE.replace('size: 1', 'size: 2'),
    `${BASE}rules: [{ match: "**", primary: { size: 2 } }]\n`,
    `${shop}branches: { SECRET-acquisitio: { primary: { size: 1 } } }\n`,
    `${BASE}prune: true\n`,
    `${shop}prune: true\nbranches: { main: { primary: absent } }\n`,
    `${shop}branches: { main: { primary: { id: ep-hidden } } }\n`,
    // A replica that resembles a declared one must not cause a hint about its name.
    BASE.replace('} }', '}, replicas: { reporting: { size: 1, scaleToZero: never } } }'),
    // Each attribute of a compute, whose live value may be shown only if it is not a setting.
    BASE.replace(
      'size: 1',
      'size: { min: 2, max: 4 }, scaleToZero: 5m, name: mine, postgres: { preload: [x], settings: { app.jwt_secret: x } }',
    ),
    BASE.replace('size: 1', 'disabled: true'),
    `price: { cuHour: 1, currency: USD }\ntier: free\n${BASE.replace('size: 1', 'size: 8')}`,
  ]) {
    const { everything, log } = await planIn(world, head)
    expect(log, head).not.toMatch(/E_(UNKNOWN_KEY|TYPE|YAML)/)
    // Values from the pull request itself are not secret.
    const own = head.match(/SECRET-\w+/g) ?? []
    const shown = own.reduce((text, word) => text.replaceAll(new RegExp(`${word}(?!\\w)`, 'g'), ''), everything)
    expect(shown, head).not.toMatch(/SECRET|renamedFrom/)
    expect(everything, head).not.toContain('S3CRET')
    // The pull request knows the id that it pins.
    expect(shown.replaceAll(head.includes('ep-hidden') ? 'ep-hidden' : '-', ''), head).not.toMatch(
      /ep-?hidden|ep-?by-?hand|br-?secret/i,
    )
  }
})

// promise: hidden-names
test('a branch that is not declared changes nothing that a pull request shows', async () => {
  const rules = ['A', 'S'].map((letter) => `  - { match: "${letter}**", primary: { size: 2 } }\n`).join('')
  const head = `${BASE}prune: true\nrules:\n${rules}  - { match: "**", primary: { size: 2 } }\n`
  const [project] = seed.projects ?? []
  const without = { projects: [{ ...project, branches: project?.branches?.slice(0, 1) }] } as Seed
  const [plain, hidden] = [await planOf(head, BASE, undefined, without), await planOf(head)]
  const lasting = ({ plan }: typeof plain) => ({ ...plan, estimates: undefined })
  expect(lasting(hidden)).toEqual(lasting(plain))
  expect(hidden.everything).toMatch(/rule `A\*\*` matches no branch/)
  expect(hidden.everything).toMatch(/rule `S\*\*` matches no branch/)
})

// promise: hidden-names
test('a replica without a name that the base does not claim changes nothing that a pull request shows', async () => {
  const seedWith = (...computes: readonly object[]): Seed =>
    ({
      projects: [{ id: 'shop', branches: [{ name: 'main', computes: [{ id: 'ep-main', size: 1 }, ...computes] }] }],
    }) as Seed
  const replicas = Array.from({ length: 11 }, (_, at) => `r${at}: { size: 1 }`).join(', ')
  const head = BASE.replace('} }', `}, replicas: { ${replicas} } }`).replace(
    'project: shop',
    'project: shop\ntier: free',
  )
  const plain = await planOf(head, BASE, undefined, seedWith())
  const hidden = await planOf(head, BASE, undefined, seedWith({ id: 'ep-by-hand', type: 'read_only', size: 4 }))
  expect(plain.everything).toContain('the project would have 11')
  expect({ ...hidden.plan, estimates: [] }).toEqual({ ...plain.plan, estimates: [] })
  expect(hidden.everything).not.toContain('ep-by-hand')
  // A replica that the base claims is planned as it would be after the merge.
  const claiming = BASE.replace('} }', '}, replicas: { reporting: { size: 4 } } }')
  const known = await planOf(
    `${claiming}# a comment\n`,
    claiming,
    undefined,
    seedWith({ id: 'ep-by-hand', type: 'read_only', size: 4 }),
  )
  expect(known.everything).toContain('ep-by-hand')
})

/** Policies that concern every compute, and so also the ones that are hidden. */
const policies = (rules: readonly string[], level = 'warn') =>
  `policy:\n${rules.map((rule, at) => `  - { name: p${at}, level: ${level}, reason: r, rule: { ${rule} } }\n`).join('')}`
const ALL_RULES = ['maxSize: 0.25', 'maxProjectCu: 1', 'maxReplicas: 0', 'maxCuHours: 1', 'scaleToZero: required']

// promise: hidden-names
test('policies of a fork are not evaluated against the live project', async () => {
  const { everything, code, log } = await planOf(BASE + policies(ALL_RULES))
  expect(code, log).toBe(0)
  expect(everything).not.toContain('SECRET')
  expect(everything).not.toMatch(/denies|warns about|CU-hours/)
})

// promise: hidden-names
test.each(['warn', 'deny'])('the base’s policies (%s) reveal no name, and no total of a project', async (level) => {
  const base = BASE + policies(ALL_RULES, level)
  const { everything, body } = await planOf(base.replace('size: 1', 'size: 2'), base)
  expect(everything).not.toContain('SECRET')
  expect(everything).not.toMatch(/ep-hidden|ep-by-hand|br-secret/i)
  // Results about declared computes keep their values.
  expect(body).toMatch(/`p0` (warns about|denies) 2 CU for primary on main/)
  expect(body).toMatch(/`p1` (warns about|denies) 2 CU/)
})

test('a change that is skipped because its branch expires does not reveal the branch', async () => {
  const expireSoon = async ({ sandbox: { apiUrl, control } }: ForkWorld) => {
    const branch = (await control.computes()).find(({ branchName }) => branchName === 'SECRET-acquisition')
    const response = await fetch(`${apiUrl}/projects/shop/branches/${branch?.branchId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ branch: { expires_at: new Date(Date.now() + 1_200_000).toISOString() } }),
    })
    expect(response.status).toBe(200)
  }
  const head = `${BASE}rules: [{ match: "**", primary: { size: 2 } }]\n`
  const { everything, code, log } = await planOf(head, BASE, expireSoon)
  expect(code, log).toBe(0)
  expect(everything).not.toMatch(/SECRET|expires/)
})

// promise: hidden-values
test('usage and totals, which include computes that are not declared, are not shown', async () => {
  const { plan } = await planOf(BASE.replace('size: 1', 'size: 2'))
  expect(plan).not.toHaveProperty('cost')
  expect(plan).not.toHaveProperty('projectNames')
  expect(plan).toMatchObject({
    unmanaged: [],
    summary: { unmanaged: 0, capacity: { before: { computes: 1, maxCu: 1 }, after: { computes: 1, maxCu: 2 } } },
  })
})

// promise: hidden-values
test('a warning about a quota counts only what is declared', async () => {
  const { everything, code, log } = await planOf(`tier: free\n${BASE.replace('size: 1', 'size: 2')}`)
  expect(code, log).toBe(0)
  expect(everything).toMatch(/W_QUOTA.*1460/)
})

// promise: hidden-values
test('if the live project cannot be read, the reason is not shown, since it may quote a live value', async () => {
  const secret = { kind: 'status', status: 400, message: 'S3CRET-JWT is not a valid value' } as const
  const { everything, code } = await planOf(`${BASE}# a comment\n`, BASE, async ({ sandbox }) => {
    sandbox.control.addFault({ on: 'request', method: 'GET', effect: secret, times: 100 })
  })
  expect(code).toBe(1)
  expect(everything).toContain('The reason is hidden')
  expect(everything).not.toContain('S3CRET')
})

test('the name of a branch that a rule in the base matches is shown', async () => {
  const base = `${BASE}rules: [{ match: "SECRET-*", primary: { size: 1 } }]\n`
  const { body } = await planOf(base.replaceAll('size: 1', 'size: 2'), base)
  expect(body).toContain('SECRET-acquisition')
})

// promise: undeclared-settings
test('settings that are not declared are shown nowhere, even by a trusted pull request and its merge', async () => {
  const postgres = { settings: { 'app.token': 'S3CRET-KEPT' }, preload: ['S3CRET_LIBRARY'] }
  const world = await openForkWorld(
    {
      projects: [
        {
          id: 'shop',
          branches: [
            { name: 'main', computes: [{ id: 'ep-main', size: 1, scaleToZero: 'never', postgres }] },
            { name: 'dev', computes: [{ id: 'ep-replaced', size: 1, type: 'read_only', postgres }] },
          ],
        },
      ],
    },
    { 'espalier.yaml': BASE.replace('size: 1', 'size: 1, postgres: { settings: { app.token: x } }') },
  )
  world.fork.write(
    'espalier.yaml',
    `version: 1
project: shop
branches:
  main: { primary: { size: 2, postgres: { settings: { work_mem: 8MB } } } }
  dev: { primary: { id: ep-replaced, size: 2 } }
`,
  )
  world.fork.commit('head')
  world.open()
  const planned = await world.run({ 'plan-file': 'plan.json' }, { isTrusted: true })
  const env = { ESPALIER_API_KEY: KEY, ESPALIER_BASE_URL: world.sandbox.apiUrl }
  const page = ['plan', '--detail', '--html', 'page.html']
  const printed = await startInProcess(page, { cwd: world.fork.folder, env }).ended
  const paths = [planned.outputs['plan-path'], planned.outputs['json-plan-path'], `${world.fork.folder}/page.html`]
  const files = paths.map((path) => readFileSync(path ?? '', 'utf8'))
  const inputs = { command: 'apply', 'plan-file': 'plan.json', allow: 'restart,replace' }
  const applied = await world.run(inputs, { isTrusted: true, merged: true })
  expect([planned.code, printed.code, applied.code], planned.log + printed.stderr + applied.log).toEqual([0, 0, 0])
  expect(files[0]).toContain('work_mem')
  expect(world.github.comments[0]?.body).toContain('app.token (live: another value)')
  expect(JSON.stringify([planned, printed, files, applied, world.github.comments])).not.toContain('S3CRET')
  // The requests repeat the settings all the same.
  const sent = world.requests().filter(({ method }) => method !== 'GET')
  expect(sent.map(({ method }) => method).sort()).toEqual(['DELETE', 'PATCH', 'POST'])
  const response = await fetch(`${world.sandbox.apiUrl}/projects/shop/endpoints`, {
    headers: { authorization: `Bearer ${KEY}` },
  })
  const { endpoints } = (await response.json()) as { endpoints: readonly { settings: unknown }[] }
  expect(endpoints).toHaveLength(2)
  for (const { settings } of endpoints) {
    expect(settings).toMatchObject({
      pg_settings: { 'app.token': 'S3CRET-KEPT' },
      preload_libraries: { enabled_libraries: ['S3CRET_LIBRARY'] },
    })
  }
})
