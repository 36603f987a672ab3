import { diffLines } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adoptInto, exportProject, parseManifests } from '../../src/manifest/index.ts'
import { isEmptyPlan, type Observed } from '../../src/model/index.ts'
import { plan } from '../../src/planner/index.ts'
import { expectEnough, runs } from '../long-runs.ts'
import { liveWorld } from '../planner/arbitraries.ts'
import { PROJECT, world } from '../planner/world.ts'

const planOf = (text: string, observed: Observed) => {
  const loaded = parseManifests([{ path: 'espalier.yaml', text }])
  expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  const result = plan(loaded.desired, observed)
  if (!result.ok) throw new Error(result.diagnostics.map(({ message }) => message).join('\n'))
  return result.plan
}

const adopt = (
  text: string,
  observed: Observed,
  more: { branches?: readonly string[]; pin?: boolean; infersRules?: boolean } = {},
) => {
  const [project] = observed.projects
  if (project === undefined) throw new Error('no project')
  const file = { path: 'espalier.yaml', text }
  return adoptInto(file, [], project, planOf(text, observed), { pin: false, ...more })
}

const textOf = (adopted: ReturnType<typeof adopt>): string => {
  if ('conflicts' in adopted) throw new Error(adopted.conflicts.map(({ message }) => message).join('\n'))
  return adopted.text
}

/** The removed and added lines, as a reviewer sees them. */
const changes = (before: string, after: string): string =>
  diffLines(before, after)
    .filter(({ added, removed }) => added || removed)
    .map(({ added, value }) => value.replace(/^/gm, added ? '+' : '-').replace(/[+-]$/, ''))
    .join('')

const WRITTEN = `# yaml-language-server: $schema=schemas/manifest.schema.json
# The web shop. Ask in #databases before you touch main.

version: 1
project: ${PROJECT}   # quiet-river

defaults: {scaleToZero: 5m}

branches:

    # Everything hangs on it.
    main:
        primary:
            size: 1   # was 2 before March
        replicas:
            reporting: { size: 2 }

    staging: { primary: { size: 1 } }
    bare:
        protect: true

rules:
    - match: preview/*   # they come and go
      primary: {size: 0.25}
`

const LIVE = {
  main: {
    primary: { size: 4, scaleToZero: 300 },
    replicas: [
      { name: 'reporting', size: 2, scaleToZero: 300 },
      { name: 'search', size: 1, scaleToZero: 600 },
    ],
  },
  staging: { primary: { size: { min: 1, max: 4 }, scaleToZero: 300, settings: { work_mem: '64MB' } } },
  bare: { primary: { size: 1, scaleToZero: 300 } },
  'preview/1': { primary: { size: 0.25, scaleToZero: 300 } },
  'preview/2': { primary: { size: 2, scaleToZero: 300 } },
  new: { primary: { size: 0.5, scaleToZero: 300 }, replicas: [{ size: 1 }] },
}

describe('adoptInto', () => {
  it('adds missing values, updates differing ones and leaves the rest of the text unchanged', () => {
    const observed = world(LIVE)
    const adopted = adopt(WRITTEN, observed)
    const text = textOf(adopted)
    expect(isEmptyPlan(planOf(text, observed))).toBe(true)
    expect(changes(WRITTEN, text)).toMatchInlineSnapshot(`
      "-            size: 1   # was 2 before March
      +            size: 4   # was 2 before March
      +            search: { size: 1, scaleToZero: 10m }
      -    staging: { primary: { size: 1 } }
      +    staging: { primary: { size: { min: 1, max: 4 } } }
      +        primary: { size: 1 }
      +    preview/2:
      +        primary: { size: 2 }
      +    new:
      +        primary: { size: 0.5 }
      "
    `)
    expect(adopted).toMatchObject({ leftOut: [expect.stringContaining('has no name')] })
  })

  it('changes nothing when it runs a second time', () => {
    const observed = world(LIVE)
    const once = textOf(adopt(WRITTEN, observed))
    expect(adopt(once, observed)).toMatchObject({ text: once, added: 0, updated: 0 })
  })

  it('keeps CRLF line endings', () => {
    const text = textOf(adopt(WRITTEN.replaceAll('\n', '\r\n'), world(LIVE)))
    expect(text.replaceAll('\r\n', '')).not.toContain('\n')
  })

  it('adopts only branches that match the `branches` globs', () => {
    const text = textOf(adopt(WRITTEN, world(LIVE), { branches: ['ne?'] }))
    expect(changes(WRITTEN, text)).toBe('+    new:\n+        primary: { size: 0.5 }\n')
  })

  it('writes the ids of added computes when `pin` is set', () => {
    const text = textOf(adopt(WRITTEN, world(LIVE), { branches: ['ne?'], pin: true }))
    expect(changes(WRITTEN, text)).toBe('+    new:\n+        primary: { id: ep-br-new, size: 0.5 }\n')
  })

  it.each([
    ['which has none', '', ''],
    [
      'after a rule',
      '\n\nrules:\n    - match: preview/*   # short\n      primary: {size: 0.25}\n      # the end\n',
      '    ',
    ],
    ['on several lines', '\n\nrules:\n- match: preview/*\n  primary:\n    size: 0.25\n', ''],
  ])('declares new branches that come and go by a new rule in a manifest %s', (_what, ruled, indent) => {
    const team = { primary: { size: 0.5, scaleToZero: 300 } }
    const observed = world({
      main: { primary: { size: 1, scaleToZero: 300 } },
      // A branch that the manifest lists counts as one with the same prefix.
      'old/1': team,
      'old/2': team,
      'team/a': team,
      'team/b': team,
      'team/bare': {},
      'preview/1': { primary: { size: 0.25 } },
    })
    const before = `version: 1\nproject: ${PROJECT}\nbranches: { main: { primary: {} }, old/1: { primary: {} } }${ruled}${ruled === '' ? '\n' : ''}`
    const adopted = adopt(before, observed, { infersRules: true })
    const text = textOf(adopted)
    expect(isEmptyPlan(planOf(text, observed)), text).toBe(true)
    expect(text).toContain(
      `${indent}- match: old/*\n${indent}  primary: { size: 0.5, scaleToZero: 5m }\n${indent}- match: team/*\n${indent}  except: [ team/bare ]\n`
        .replace(/^/gm, ruled === '' ? '  ' : '')
        .trimEnd(),
    )
    expect(text).not.toMatch(/team\/a|old\/2/)
    expect(adopt(text, observed, { infersRules: true })).toMatchObject({ text, added: 0 })
  })

  it('copies the settings of a rule to a branch that gets its own entry', () => {
    const rule = `rules:
  - match: preview/*
    protect: true
    primary:
      size: 0.25
      disabled: false
      pooler: { enabled: true }
      restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: UTC }
`
    const observed = world({ main: {}, 'preview/1': { primary: { size: 2, poolerEnabled: true } } })
    const before = `version: 1\nproject: ${PROJECT}\n${rule}`
    const text = textOf(adopt(before, observed))
    expect(isEmptyPlan(planOf(text, observed))).toBe(true)
    expect(changes(before, text)).toMatchInlineSnapshot(`
      "+branches:
      +  preview/1:
      +    protect: true
      +    primary:
      +      size: 2
      +      scaleToZero: default
      +      disabled: false
      +      pooler: { enabled: true }
      +      restartWindow:
      +        days: [ sun ]
      +        from: 02:00
      +        to: 04:00
      +        timezone: UTC
      "
    `)
  })

  it('copies the settings of the rule that applies, not of one for branches that expire', () => {
    const before = `version: 1
project: ${PROJECT}
rules:
  - match: team/*
    expires: true
    primary: { size: 0.25 }
  - match: team/*
    protect: true
    primary:
      size: 0.5
      restartWindow: { days: [sun], from: "02:00", to: "04:00", timezone: UTC }
`
    const text = textOf(adopt(before, world({ main: {}, 'team/a': { primary: { size: 2 } } })))
    expect(changes(before, text)).toMatchInlineSnapshot(`
      "+branches:
      +  team/a:
      +    protect: true
      +    primary:
      +      size: 2
      +      scaleToZero: default
      +      restartWindow:
      +        days: [ sun ]
      +        from: 02:00
      +        to: 04:00
      +        timezone: UTC
      "
    `)
  })

  // hint: Edit it manually, or simplify it and import again. Nothing was written.
  it('reports a conflict with its position when a write would lose a comment', () => {
    const observed = world({ main: { primary: { size: 2 } } })
    const before = `version: 1\nproject: ${PROJECT}\nbranches:\n  main:\n    primary:\n      size:\n        min: 1 # ticket 123\n        max: 4\n`
    expect(adopt(before, observed)).toEqual({
      conflicts: [
        {
          message: '`branches.main.primary.size` cannot be written: there is a comment in its value.',
          hint: 'Edit it manually, or simplify it and import again. Nothing was written.',
          source: { file: 'espalier.yaml', line: 6, column: 7, length: 1 },
        },
      ],
    })
    const simplified = textOf(adopt(before.replace(' # ticket 123', ''), observed))
    expect(simplified).toContain('size: 2\n')
    expect(adopt(before.replace(/size:.*/s, 'size: 2 # ticket 123\n'), observed)).not.toHaveProperty('conflicts')
  })

  it('replaces a value that spans several lines', () => {
    const observed = world({ main: { primary: { size: 2, scaleToZero: 600 } } })
    const before = `version: 1\nproject: ${PROJECT}\nbranches:\n  main:\n    primary:\n      scaleToZero: >-\n        5m\n      size: 2\n`
    expect(changes(before, textOf(adopt(before, observed)))).toBe(
      '-      scaleToZero: >-\n-        5m\n+      scaleToZero: 10m\n',
    )
  })

  it('declares the computes that prune would delete', () => {
    const pruning = `${WRITTEN}prune: true\n`
    const text = textOf(adopt(pruning, world(LIVE), { branches: ['main'] }))
    expect(text).toContain('search')
  })

  it.each([
    [
      'a declared setting is not live',
      LIVE,
      WRITTEN.replace('size: 1   #', 'postgres: { settings: { a: b } } #'),
      'settings.a',
    ],
    [
      'the declared primary is absent',
      LIVE,
      WRITTEN.replace('staging: { primary: { size: 1 } }', 'staging: { primary: absent }'),
      'absent',
    ],
    [
      'the branch is a YAML alias',
      LIVE,
      WRITTEN.replace('branches:', 'x: 1\nbranches:')
        .replace('x: 1\n', '')
        .replace('staging: { primary: { size: 1 } }', 'staging: &s { primary: { size: 1 } }\n    other: *s'),
      'alias',
    ],
  ])('writes nothing and names the conflict when %s', (_what, live, text, why) => {
    const adopted = adopt(text, world({ ...live, other: { primary: { size: 8, scaleToZero: 300 } } }))
    expect(adopted).toMatchObject({
      conflicts: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining(why) })]),
    })
  })

  // hint: Remove this declaration from the manifest, then import again. Nothing was written.
  it.each([
    ['main: { primary: { postgres: { settings: { a: b } } } }', 'main: { primary: {} }'],
    ['main: { primary: absent }', 'main: {}'],
    ['main: { replicas: { r: { id: ep-br-main } } }', 'main: {}'],
    ['free: { primary: { id: ep-br-main } }', 'free: {}'],
  ])('imports again when the conflicting declaration in `%s` is removed', (declared, corrected) => {
    const live = world({ main: { primary: { size: 2, scaleToZero: 300 } }, free: {} })
    const manifest = (branch: string): string => `version: 1\nproject: ${PROJECT}\nbranches:\n  ${branch}\n`
    const hint = 'Remove this declaration from the manifest, then import again. Nothing was written.'
    expect(adopt(manifest(declared), live)).toMatchObject({ conflicts: [{ hint, source: { file: 'espalier.yaml' } }] })
    const imported = planOf(textOf(adopt(manifest(corrected), live)), live)
    expect(isEmptyPlan(imported)).toBe(true)
  })

  it('keeps a declared compute that is not live and imports the others', () => {
    const live = { main: { primary: { size: 1 } }, other: { primary: { size: 8, scaleToZero: 300 } } }
    const adopted = adopt(WRITTEN, world({ ...LIVE, ...live }))
    expect(adopted).toMatchObject({ notLive: ['replica "reporting" on main'], added: expect.any(Number) })
    expect(textOf(adopted)).toContain('reporting: { size: 2 }')
    expect(textOf(adopted)).toContain('other:')
  })

  it('produces a manifest with an empty plan, or no manifest, for any change to the live project', () => {
    let merged = 0
    fc.assert(
      fc.property(liveWorld, liveWorld, fc.boolean(), (before, more, pin) => {
        const was = world(before)
        const [project] = was.projects
        if (project === undefined) return
        const { text, computes } = exportProject(project, { pin: false, schema: 'x' })
        if (computes === 0) return
        // Existing branches remain, possibly changed, and missing ones are added.
        const now = world({
          ...more,
          ...Object.fromEntries(Object.entries(before).map(([name, branch]) => [name, laid(branch, more[name])])),
        })
        const result = plan(parseManifests([{ path: 'espalier.yaml', text }]).desired, now)
        if (!result.ok) return
        const adopted = adopt(text, now, { pin })
        if ('conflicts' in adopted) return
        merged += 1
        expect(
          planOf(adopted.text, now).changes.map(({ id, reasons }) => `${id} ${reasons}`),
          adopted.text,
        ).toEqual([])
      }),
      { numRuns: runs(400) },
    )
    expectEnough(merged, 100)
  })
})

type Branch = Parameters<typeof world>[0][string]

const laid = (below: Branch, above: Branch | undefined): Branch => ({
  ...below,
  ...(above?.primary === undefined || below.primary !== undefined ? {} : { primary: above.primary }),
  ...(below.primary === undefined || above?.primary === undefined
    ? {}
    : {
        primary: {
          ...below.primary,
          ...(above.primary.size === undefined ? {} : { size: above.primary.size }),
          scaleToZero: -1,
        },
      }),
})
