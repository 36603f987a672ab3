/** What an untrusted pull request must not learn by declaring something harmless. */
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

test('the live value of a setting that it declares: its name is shown, its own value, and not the live one', async () => {
  const { code, log, body, everything } = await planOf(
    BASE.replace('size: 1', 'size: 1, postgres: { settings: { app.jwt_secret: x } }'),
  )
  expect(code, log).toBe(0)
  expect(body).toContain('app.jwt_secret')
  expect(body).toContain('(hidden)')
  expect(everything).not.toContain('S3CRET')
  expect(body).toContain('Live values of Postgres settings, and names that only the live project has, are not shown')
})

test.each([
  ['unmanaged computes', BASE.replace('size: 1', 'size: 2')],
  ['a rule that matches every branch', `${BASE}rules: [{ match: "**", primary: { size: 2 } }]\n`],
  [
    'a branch that is nearly spelt like one',
    'version: 1\nproject: shop\nbranches: { SECRET-acquisitio: { primary: { size: 1 } } }\n',
  ],
  ['pruning', `${BASE}prune: true\n`],
  ['a branch without its primary', 'version: 1\nproject: shop\nprune: true\nbranches: { main: { primary: absent } }\n'],
  ['a pin elsewhere', 'version: 1\nproject: shop\nbranches: { main: { primary: { id: ep-hidden } } }\n'],
  ['a name that is taken', BASE.replace('} }', '}, replicas: { reporting: { name: SECRET-REPLICA } } }')],
])('names that only the live project has, asked for by %s', async (_what, head) => {
  const { everything } = await planOf(head)
  // What the pull request writes itself is no secret.
  const own = head.match(/SECRET-\w+/g) ?? []
  const shown = own.reduce((text, word) => text.replaceAll(new RegExp(`${word}(?!\\w)`, 'g'), ''), everything)
  expect(shown).not.toContain('SECRET')
  expect(everything).not.toContain('S3CRET')
})

test.each([
  ['a rule', `${BASE}rules: [{ match: "**", primary: { size: 2 } }]\n`],
  ['pruning', `${BASE}prune: true\n`],
])('ids of what only the live project has are not shown for %s', async (_what, head) => {
  const { everything, code, log } = await planOf(head)
  expect(code, log).toBe(0)
  expect(everything).toMatch(/hidden-compute-\d/)
  expect(everything).not.toMatch(/ep-hidden|ep-by-hand|br-secret/i)
})

test('a branch that the base manages, by name or by rule, keeps its name', async () => {
  const base = `${BASE}rules: [{ match: "SECRET-*", primary: { size: 1 } }]\n`
  const { body } = await planOf(base.replaceAll('size: 1', 'size: 2'), base)
  expect(body).toContain('SECRET-acquisition')
})
