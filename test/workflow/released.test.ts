/** Manifests that declare the same in another way stop declaring nothing. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'
import { releasedSince } from '../../src/planner/index.ts'
import { releasedPolicies } from '../../src/workflow/index.ts'
import { runs } from '../long-runs.ts'
import { PROJECT, world } from '../planner/world.ts'

const LIVE = world({
  main: { primary: { id: 'ep-main', size: 2, disabled: true }, replicas: [{ id: 'ep-bi', name: 'bi', size: 1 }] },
  dev: { primary: { id: 'ep-dev', size: 1 } },
  'preview/1': { primary: { id: 'ep-preview' } },
})

type Compute = Readonly<Record<string, unknown>>
interface Shop {
  readonly main: Compute
  readonly bi: Compute
  readonly dev: Compute
  readonly preview: Compute
}

const each = ({ main, bi, dev, preview }: Shop, make: (one: Compute, name: string) => Compute): Shop => ({
  main: make(main, 'main'),
  bi: make(bi, 'bi'),
  dev: make(dev, 'dev'),
  preview: make(preview, 'preview'),
})

const parsed = (documents: readonly object[]) => {
  const files = documents.map((document, index) => ({
    path: `${index}.yaml`,
    text: stringify({ version: 1, project: PROJECT, ...document }),
  }))
  const { desired, diagnostics } = parseManifests(files)
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  return desired
}

const plain = ({ main, bi, dev, preview }: Shop) => [
  {
    branches: { main: { primary: main, replicas: { bi } }, dev: { primary: dev } },
    rules: [{ match: 'preview/*', primary: preview }],
  },
]

/** The same declarations, written in another way. */
const REWRITTEN: Readonly<Record<string, (shop: Shop) => readonly object[]>> = {
  'in another file': ({ main, bi, dev, preview }) => [
    { branches: { dev: { primary: dev } } },
    { branches: { main: { primary: main, replicas: { bi } } }, rules: [{ match: 'preview/*', primary: preview }] },
  ],
  'by id': ({ main, bi, dev, preview }) => [
    {
      branches: {
        'br-main': { primary: { ...main, id: 'ep-main' }, replicas: { bi: { ...bi, id: 'ep-bi' } } },
        'br-dev': { primary: dev },
        'preview/1': { primary: preview },
      },
    },
  ],
  'in profiles': (shop) => [{ ...plain(each(shop, (_one, profile) => ({ profile })))[0], profiles: shop }],
  'in defaults': (shop) => {
    const { size } = shop.main
    if (size === undefined || Object.values(shop).some((one) => one.size !== size)) return plain(shop)
    return [{ ...plain(each(shop, ({ size: _, ...rest }) => rest))[0], defaults: { size } }]
  },
  renamed: ({ main, bi, dev, preview }) => [
    {
      branches: { main: { primary: main, replicas: { olap: { ...bi, renamedFrom: 'bi' } } }, dev: { primary: dev } },
      rules: [
        { match: 'preview/**', primary: preview },
        { match: 'gone/*', primary: {} },
      ],
    },
  ],
}

const compute = fc.record(
  { size: fc.constantFrom(1, 2), scaleToZero: fc.constantFrom('5m', '1h'), disabled: fc.boolean() },
  { requiredKeys: [] },
)
const shop = fc.record({ main: compute, bi: compute, dev: compute, preview: compute })
const common = shop.map((all) => each(all, (one) => ({ ...one, size: 2 })))

test.each(Object.entries(REWRITTEN))('declarations that are rewritten, %s, list nothing', (_how, rewrite) => {
  fc.assert(
    fc.property(fc.oneof(shop, common), (one) => {
      const [before, after] = [parsed(plain(one)), parsed(rewrite(one))]
      expect(releasedSince(before, after, LIVE)).toEqual([])
      expect(releasedSince(after, before, LIVE)).toEqual([])
    }),
    { numRuns: runs(200) },
  )
})

test('exactly the attributes that are left out are listed', () => {
  fc.assert(
    fc.property(shop, shop, (one, other) => {
      const listed = releasedSince(parsed(plain(one)), parsed(plain(other)), LIVE)
      const expected = Object.entries(one).flatMap(([name, declared]) =>
        Object.keys(declared).flatMap((path) => (path in other[name as keyof Shop] ? [] : [`ep-${name} ${path}`])),
      )
      expect(
        listed.map((found) => (found.kind === 'attribute' ? `${found.compute.id} ${found.path}` : '')).sort(),
      ).toEqual(expected.sort())
    }),
    { numRuns: runs(300) },
  )
})

test('the policies for a project that are removed are listed, with their branches', () => {
  const limit = { level: 'deny', reason: 'Cost.', rule: { maxSize: 4 } }
  const text = stringify({
    version: 1,
    policies: [
      { name: 'everywhere', ...limit },
      { name: 'previews', ...limit, branches: ['preview/*', 'test/*'] },
      { name: 'elsewhere', ...limit, projects: ['blog'] },
    ],
  })
  const { policies } = parsePolicies([{ path: 'espalier.policy.yaml', text }])
  const before = { files: [], policies }
  const project = { id: PROJECT, name: 'shop' }
  const removed = (after?: typeof before) => releasedPolicies(before, after, project)
  expect(removed()).toEqual([
    {
      ...{ kind: 'safeguard', project: PROJECT, branch: { name: '**' }, safeguard: 'policy' },
      ...{ before: expect.stringMatching(/^everywhere: ./), after: 'removed' },
    },
    expect.objectContaining({ branch: { name: 'preview/*, test/*' }, before: expect.stringMatching(/^previews: ./) }),
  ])
  expect(removed({ files: [], policies: policies.slice(0, 1) })).toMatchObject([
    { before: expect.stringMatching(/^previews/) },
  ])
  expect(removed(before)).toEqual([])
  expect(releasedPolicies(undefined, before, project)).toEqual([])
})
