/** An untrusted pull request must not reveal live values, names and ids with a harmless declaration. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Seed } from '../../src/sandbox/index.ts'
import { openForkWorld } from './fork-world.ts'

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

const planOf = async (head: string, base = BASE) => {
  const world = await openForkWorld(seed, { 'espalier.yaml': base })
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
  if (file !== undefined) everything.push(readFileSync(file, 'utf8'))
  return { ...ended, body: world.github.comments[0]?.body ?? '', everything: everything.join('\n') }
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

test('the name of a branch that a rule in the base matches is shown', async () => {
  const base = `${BASE}rules: [{ match: "SECRET-*", primary: { size: 1 } }]\n`
  const { body } = await planOf(base.replaceAll('size: 1', 'size: 2'), base)
  expect(body).toContain('SECRET-acquisition')
})
