/** An untrusted pull request must not reveal live values, names and ids with a harmless declaration. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Seed } from '../../src/sandbox/index.ts'
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
              postgres: { settings: { 'app.jwt_secret': 'S3CRET-JWT', 'app.other': 'S3CRET-OTHER' } },
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
  world.fork.write('espalier.yaml', head)
  world.fork.commit('head')
  world.open()
  const ended = await world.run()
  const file = ended.outputs['json-plan-path']
  const everything = [
    ended.log,
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
  expect(body).toContain('Live values of Postgres settings, and names that exist only in the live project, are hidden')
})

// promise: hidden-names
test('an edit that a hint suggests does not reveal the name of a replica', async () => {
  const head = BASE.replace('} }', '}, replicas: { reporting: { size: 1, scaleToZero: never } } }')
  const { everything, body, code, log } = await planOf(head)
  expect(code, log).toBe(0)
  expect(body).toContain('write `renamedFrom: (hidden)` under `reporting`')
  expect(everything).not.toContain('SECRET')
})

// promise: hidden-names
test('the digests in the comment do not cover a live name, which readers could guess', async () => {
  const base = BASE.replace('size: 1', 'id: ep-main, size: 1')
  const rename = async (name: string) => {
    const named = JSON.parse(JSON.stringify(seed).replace('"id":"ep-main",', `"id":"ep-main","name":"${name}",`))
    const { body } = await planOf(base.replace('size: 1', 'size: 1, name: mine'), base, undefined, named)
    return /<!-- espalier reviewed \w+ (.*) -->/.exec(body)?.[1]
  }
  expect(await rename('SECRET-one')).toMatch(/^\S{22}$/)
  expect(await rename('SECRET-one')).toBe(await rename('SECRET-two'))
})

/** These plan steps for computes that are not declared. */
const AFFECT_HIDDEN = ['a rule that matches every branch', 'pruning']

// promise: hidden-names
test.each([
  ['an ordinary change', BASE.replace('size: 1', 'size: 2')],
  ['a rule that matches every branch', `${BASE}rules: [{ match: "**", primary: { size: 2 } }]\n`],
  [
    'a branch with a similar name',
    'version: 1\nproject: shop\nbranches: { SECRET-acquisitio: { primary: { size: 1 } } }\n',
  ],
  ['pruning', `${BASE}prune: true\n`],
  ['a branch without its primary', 'version: 1\nproject: shop\nprune: true\nbranches: { main: { primary: absent } }\n'],
  ['a pin to an undeclared compute', 'version: 1\nproject: shop\nbranches: { main: { primary: { id: ep-hidden } } }\n'],
  ['the name of an undeclared replica', BASE.replace('} }', '}, replicas: { reporting: { name: SECRET-REPLICA } } }')],
])('undeclared live names and ids are hidden from a manifest with %s', async (what, head) => {
  const { everything, code, log } = await planOf(head)
  // Values from the pull request itself are not secret.
  const own = head.match(/SECRET-\w+/g) ?? []
  const shown = own.reduce((text, word) => text.replaceAll(new RegExp(`${word}(?!\\w)`, 'g'), ''), everything)
  expect(shown).not.toContain('SECRET')
  expect(everything).not.toContain('S3CRET')
  if (!AFFECT_HIDDEN.includes(what)) return
  expect(code, log).toBe(0)
  expect(everything).toMatch(/hidden-compute-\d/)
  expect(everything).not.toMatch(/ep-hidden|ep-by-hand|br-secret/i)
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
  expect(body).toContain('concerns computes that are hidden here')
})

// promise: hidden-names
test('a denial of a whole project does not reveal its total, also where it refuses a change', async () => {
  const base = BASE + policies(['maxProjectCu: 1', 'maxCuHours: 1'], 'deny')
  const { plan, everything } = await planOf(base.replace('size: 1', 'size: 2'), base)
  expect(plan.changes[0].refused).toMatch(/^`p\d` concerns computes that are hidden here/)
  expect(everything).not.toContain('SECRET')
  expect(everything).not.toMatch(/denies \d/)
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
  expect(everything).toMatch(/hidden-branch-1/)
  expect(everything).not.toContain('SECRET')
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

// promise: hidden-names
test.each([
  ['a plan', ''],
  ['an error', 'parkOn: missing\n'],
])('which rules match no branch is hidden, with %s', async (_, also) => {
  const rules = ['A', 'S'].map((letter) => `  - { match: "${letter}**", primary: { size: 1 } }\n`)
  const { everything } = await planOf(`${BASE}${also}rules:\n${rules.join('')}${rules[1]}`)
  expect(everything).not.toMatch(/W_RULE|matches no branch|earlier rule/)
})

// promise: hidden-values
test('a warning about a quota, which states the usage of the whole project, is not shown', async () => {
  const { everything, code, log } = await planOf(`tier: free\n${BASE.replace('size: 1', 'size: 2')}`)
  expect(code, log).toBe(0)
  expect(everything).not.toMatch(/W_QUOTA|CU-hours/)
})

test('the name of a branch that a rule in the base matches is shown', async () => {
  const base = `${BASE}rules: [{ match: "SECRET-*", primary: { size: 1 } }]\n`
  const { body } = await planOf(base.replaceAll('size: 1', 'size: 2'), base)
  expect(body).toContain('SECRET-acquisition')
})
