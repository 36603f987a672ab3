import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadManifests, parseManifests, resolvedManifests, resolvedText } from '../../src/manifest/index.ts'
import type { Desired } from '../../src/model/index.ts'
import { runs } from '../long-runs.ts'

const read = (files: Readonly<Record<string, string>>): Desired => {
  const { desired, diagnostics } = parseManifests(Object.entries(files).map(([path, text]) => ({ path, text })))
  expect(diagnostics).toEqual([])
  return desired
}

/** Everything except source positions. */
const meaning = (desired: Desired): unknown =>
  JSON.parse(
    JSON.stringify(desired, (key, value: unknown) =>
      ['source', 'sources', 'protectSource', 'isShared'].includes(key) ? undefined : value,
    ),
  )

const FILES = {
  'a.yaml': [
    'version: 1',
    'project: shop',
    'extends: s.yaml',
    'branches:',
    '  main:',
    '    primary: { profile: big, name: main.db, size: 4 }',
    '    replicas: { r: { renamedFrom: old }, gone: absent }',
    '  gone: { primary: absent }',
    'rules: [{ match: "preview/*", except: [preview/x], primary: { disabled: true } }]',
  ].join('\n'),
  's.yaml': [
    'prune: true',
    'parkOn: spare',
    'restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: UTC }',
    'defaults: { scaleToZero: 5m, postgres: { settings: { a.b: 1.50, work_mem: 64MB } } }',
    'profiles: { big: { scaleToZero: never, postgres: { preload: [x], settings: { a.b: 2 } } } }',
    'branches: { main: { protect: true } }',
    'waves: [{ name: all, projects: ["*"] }]',
  ].join('\n'),
}

describe('resolved manifests', () => {
  test('the YAML shows the source of each line in a comment', () => {
    expect(resolvedText(resolvedManifests(read(FILES)))).toBe(`version: 1
project: shop # a.yaml:2
prune: true # s.yaml:1
parkOn: spare # s.yaml:2
restartWindow: { days: [ sun ], from: 02:00, to: 04:00, timezone: UTC } # s.yaml:3
branches:
  main: # a.yaml:5
    protect: true # s.yaml:6
    primary: # a.yaml:6
      name: main.db # a.yaml:6
      size: 4 # a.yaml:6
      scaleToZero: never # s.yaml:5
      postgres:
        settings:
          a.b: "2" # s.yaml:5
          work_mem: 64MB # s.yaml:4
        preload: [ x ] # s.yaml:5
      restartWindow: { days: [ sun ], from: 02:00, to: 04:00, timezone: UTC } # s.yaml:3
    replicas:
      r: # a.yaml:7
        renamedFrom: old # a.yaml:7
        scaleToZero: 5m # s.yaml:4
        postgres:
          settings:
            a.b: "1.50" # s.yaml:4
            work_mem: 64MB # s.yaml:4
        restartWindow: { days: [ sun ], from: 02:00, to: 04:00, timezone: UTC } # s.yaml:3
      gone: absent # a.yaml:7
  gone: # a.yaml:8
    primary: absent # a.yaml:8
rules:
  - match: preview/* # a.yaml:9
    except: [ preview/x ]
    primary: # a.yaml:9
      scaleToZero: 5m # s.yaml:4
      disabled: true # a.yaml:9
      postgres:
        settings:
          a.b: "1.50" # s.yaml:4
          work_mem: 64MB # s.yaml:4
      restartWindow: { days: [ sun ], from: 02:00, to: 04:00, timezone: UTC } # s.yaml:3
---
waves:
  - name: all # s.yaml:7
    projects: [ "*" ]
`)
  })

  test('the JSON holds the source of each value', () => {
    const { documents, waves } = resolvedManifests(read(FILES))
    expect(waves).toMatchObject([{ name: 'all', projects: ['*'] }])
    expect(documents[0]?.branches.main).toMatchObject({
      protect: { value: true, source: { file: 's.yaml', line: 6 } },
      primary: {
        attributes: {
          size: { value: 4, source: { file: 'a.yaml', line: 6, column: 51 } },
          'postgres.settings.a.b': { value: '2', source: { file: 's.yaml', line: 5 } },
        },
      },
    })
  })

  test('the YAML is a manifest with the same meaning as its sources', async () => {
    const examples = await Promise.all(
      ['fleet', 'policy', 'preview-branches', 'quickstart', 'restore'].map((name) =>
        loadManifests([`examples/${name}`]),
      ),
    )
    expect(examples.flatMap(({ diagnostics }) => diagnostics)).toEqual([])
    for (const one of [read(FILES), ...examples.map(({ desired }) => desired)]) {
      expect(meaning(read({ 'r.yaml': resolvedText(resolvedManifests(one)) }))).toEqual(meaning(one))
    }
  })

  test('the YAML has the same meaning whatever the names of branches, replicas and settings are', () => {
    const name = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }).filter((one) => !/[\p{Cc}]/u.test(one))
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 3, maxLength: 3 }), ([branch = '', replica = '', setting = '']) => {
        const attributes = { postgres: { settings: { [setting]: 'x', [`${setting}.${setting}`]: '1' } } }
        const value = { version: 1, project: 'p', branches: { [branch]: { replicas: { [replica]: attributes } } } }
        const desired = read({ 'a.yaml': JSON.stringify(value) })
        expect(meaning(read({ 'r.yaml': resolvedText(resolvedManifests(desired)) }))).toEqual(meaning(desired))
      }),
      { numRuns: runs(200) },
    )
  })
})
