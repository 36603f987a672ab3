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
// promise: hidden-names
test('the log, summary, comment, outputs and files of an untrusted pull request reveal nothing of what is not declared', async () => {
  const world = await openForkWorld(seed, { 'espalier.yaml': BASE })
  const head = `prune: true\n${BASE.replace('size: 1', 'size: 2, postgres: { settings: { app.jwt_secret: x } }')}`
  const { code, log, body, everything, outputs } = await planIn(
    world,
    `${head}rules: [{ match: "**", primary: { size: 2 } }]\n`,
  )
  expect(code, log).toBe(0)
  expect(body).toContain('app.jwt_secret (hidden) → x')
  expect(body).toContain(
    'Live values of Postgres settings are hidden, and branches and computes that no manifest declares',
  )
  expect(everything).not.toMatch(/SECRET|S3CRET|ep-hidden|by-hand|br-secret/)
  expect(outputs['plan-path']).toBeUndefined()
  expect(log.replace(`::add-mask::${KEY}`, '') + everything.replace(log, '')).not.toContain(KEY)
})

// promise: hidden-values
test('if the live project cannot be read, the reason is not shown, since it may quote a live value', async () => {
  const secret = { kind: 'status', status: 400, message: 'S3CRET-JWT is not a valid value' } as const
  const world = await openForkWorld(seed, { 'espalier.yaml': BASE })
  world.sandbox.control.addFault({ on: 'request', method: 'GET', effect: secret, times: 100 })
  const { everything, code } = await planIn(world, `${BASE}# a comment\n`)
  expect(code).toBe(1)
  expect(everything).toContain('The reason is hidden')
  expect(everything).not.toContain('S3CRET')
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
