import { describe, expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import { type DesiredCompute, type DesiredDocument, formatWindow, isAbsence } from '../../src/model/index.ts'

const HEAD = 'version: 1\nproject: quiet-river-12345678\n'

/** The parsed documents. There must be no diagnostics. */
const read = (files: Readonly<Record<string, string>>): readonly DesiredDocument[] => {
  const { desired, diagnostics } = parseManifests(Object.entries(files).map(([path, text]) => ({ path, text })))
  expect(diagnostics).toEqual([])
  return desired.documents
}

const readOne = (body: string): DesiredDocument => {
  const [document] = read({ 'a.yaml': `${HEAD}${body}\n` })
  if (document === undefined) throw new Error('no document')
  return document
}

/** The primary of the first branch. */
const primaryOf = (document: DesiredDocument | undefined): DesiredCompute => {
  const primary = document?.branches[0]?.primary
  if (primary === undefined || isAbsence(primary)) throw new Error('no primary')
  return primary
}

describe('inherited attributes', () => {
  test('a compute overrides its profile, and the profile overrides the defaults', () => {
    const { attributes } = primaryOf(
      readOne(
        [
          'defaults: { size: 1, scaleToZero: 5m, disabled: false }',
          'profiles: { small: { size: 0.25, scaleToZero: 1m } }',
          'branches: { main: { primary: { profile: small, size: 2 } } }',
        ].join('\n'),
      ),
    )
    expect(attributes).toEqual({ size: { min: 2, max: 2 }, scaleToZero: 60, disabled: false })
  })

  test('a range replaces a fixed size', () => {
    const document = readOne('defaults: { size: 4 }\nbranches: { m: { primary: { size: { min: 1, max: 2 } } } }')
    expect(primaryOf(document).attributes.size).toEqual({ min: 1, max: 2 })
  })

  test('Postgres settings are merged by name, and the list of preloaded libraries is replaced', () => {
    const { attributes } = primaryOf(
      readOne(
        [
          'defaults: { postgres: { settings: { work_mem: 64MB, a: 1 }, preload: [x, y] } }',
          'profiles: { p: { postgres: { settings: { work_mem: 32MB, b: true } } } }',
          'branches: { m: { primary: { profile: p, postgres: { settings: { c: 1.50 }, preload: [z] } } } }',
        ].join('\n'),
      ),
    )
    expect(attributes.postgresSettings).toEqual({ work_mem: '32MB', a: '1', b: 'true', c: '1.50' })
    expect(attributes.postgresPreload).toEqual(['z'])
  })

  test('`pooler.enabled` and `pooler.mode` are inherited separately', () => {
    const { attributes } = primaryOf(
      readOne(
        'defaults: { pooler: { mode: transaction } }\nbranches: { m: { primary: { pooler: { enabled: true } } } }',
      ),
    )
    expect(attributes).toEqual({ poolerEnabled: true, poolerMode: 'transaction' })
  })

  test('attributes and primaries that are not declared are not managed', () => {
    expect(primaryOf(readOne('branches: { m: { primary: {} } }')).attributes).toEqual({})
    const [branch] = readOne('branches: { m: {} }').branches
    expect(branch).not.toHaveProperty('primary')
    expect(branch).toMatchObject({ ref: 'm', protect: false, replicas: [] })
  })

  test('a restart window is inherited from the profile, the defaults, the document and extended files, in this order', () => {
    const day = (name: string): string => `{ days: [${name}], from: "02:00", to: "04:00", timezone: UTC }`
    const documents = read({
      'shared.yaml': `defaults: { restartWindow: ${day('mon')} }\n`,
      'a.yaml': [
        `${HEAD}extends: shared.yaml`,
        'profiles: { night: { restartWindow: { from: "22:00", to: "04:00", timezone: UTC } } }',
        'branches:',
        '  main:',
        '    primary: {}',
        '    replicas:',
        `      own: { profile: night, restartWindow: ${day('fri')} }`,
        '      night: { profile: night }',
        '      free: { restartWindow: always }',
      ].join('\n'),
      'b.yaml': `version: 1\nproject: p2\nextends: shared.yaml\nrestartWindow: ${day('tue')}\nbranches: { m: { primary: {} } }\n`,
      'c.yaml': `version: 1\nproject: p3\nrestartWindow: ${day('tue')}\ndefaults: { restartWindow: ${day('wed')} }\nbranches: { m: { primary: {} } }\n`,
    })
    const windowsOf = (project: string) => {
      const document = documents.find((one) => one.project === project)
      return [primaryOf(document), ...(document?.branches[0]?.replicas ?? [])].map(({ restartWindow }) =>
        typeof restartWindow === 'object' ? formatWindow(restartWindow) : restartWindow,
      )
    }
    expect(windowsOf('quiet-river-12345678')).toEqual([
      'Mon 02:00–04:00 UTC',
      'Fri 02:00–04:00 UTC',
      'daily 22:00–04:00 UTC',
      'always',
    ])
    expect(windowsOf('p2')).toEqual(['Tue 02:00–04:00 UTC'])
    expect(windowsOf('p3')).toEqual(['Wed 02:00–04:00 UTC'])
  })

  test('defaults apply to replicas and rules', () => {
    const { branches, rules } = readOne(
      'defaults: { size: 2 }\nbranches: { m: { replicas: { r: {} } } }\nrules: [{ match: "p/*", primary: {} }]',
    )
    expect(branches[0]?.replicas[0]?.attributes.size).toEqual({ min: 2, max: 2 })
    expect(rules[0]?.primary).toMatchObject({ attributes: { size: { min: 2, max: 2 } } })
  })
})

describe('values', () => {
  test.each([
    ['default', 0],
    ['never', -1],
    ['1m', 60],
    ['90s', 90],
    ['1h30m', 5_400],
    ['7d', 604_800],
  ])('`scaleToZero: %s` is read as %s seconds', (text, seconds) => {
    expect(primaryOf(readOne(`branches: { m: { primary: { scaleToZero: ${text} } } }`)).attributes.scaleToZero).toBe(
      seconds,
    )
  })

  test('an alias refers to the last anchor of its name before it', () => {
    const { branches } = readOne(
      [
        'branches:',
        '  a: { primary: &p { size: 1 } }',
        '  b: { primary: *p }',
        '  c: { primary: &p { size: 2 } }',
        '  d: { primary: *p }',
      ].join('\n'),
    )
    expect(branches.map(({ primary }) => primary)).toMatchObject(
      [1, 1, 2, 2].map((cu) => ({ attributes: { size: { min: cu, max: cu } } })),
    )
  })

  test.each(['toString', 'valueOf', 'constructor'])('a size with the key %s is reported, and does not crash', (key) => {
    const text = `version: 1\nproject: p\nbranches: { main: { primary: { size: { ${key}: [x] } } } }\n`
    const { diagnostics } = parseManifests([{ path: 'a.yaml', text }])
    expect(diagnostics.map(({ code }) => code)).toContain('E_UNKNOWN_KEY')
  })

  test('names of JavaScript object members are ordinary names', () => {
    const { branches } = readOne('branches: { constructor: { replicas: { toString: { size: 1 } } } }')
    expect(branches.map(({ ref, replicas }) => [ref, replicas.map(({ key }) => key)])).toEqual([
      ['constructor', ['toString']],
    ])
  })
})

describe('branches and rules', () => {
  test('a replica is named by its key', () => {
    const [branch] = readOne('branches: { main: { replicas: { reporting: { id: ep-a, size: 1 }, etl: {} } } }').branches
    expect(branch?.replicas.map(({ key, id, attributes }) => [key, id, attributes.name])).toEqual([
      ['reporting', 'ep-a', 'reporting'],
      ['etl', undefined, 'etl'],
    ])
  })

  test('a primary can have a name and a pin', () => {
    const primary = primaryOf(readOne('branches: { main: { primary: { name: front, id: ep-a } } }'))
    expect([primary.id, primary.attributes.name, primary.key]).toEqual(['ep-a', 'front', undefined])
  })

  test('`primary: absent` is read with its position', () => {
    const [branch] = readOne('branches:\n  main:\n    primary: absent').branches
    expect(branch?.primary).toEqual({ absent: true, source: { file: 'a.yaml', line: 5, column: 14, length: 6 } })
  })

  test('a replica can be `absent`, and is then not one of the declared replicas', () => {
    const [branch] = readOne('branches:\n  main:\n    replicas: { a: { size: 1 }, b: absent }').branches
    expect(branch?.replicas.map(({ key }) => key)).toEqual(['a'])
    expect(branch?.absentReplicas).toEqual([
      { key: 'b', absent: true, source: { file: 'a.yaml', line: 5, column: 36, length: 6 } },
    ])
  })

  test('rules are read in order, with their exceptions, primaries and replicas', () => {
    const { rules } = readOne(
      [
        'rules:',
        '  - match: preview/keep-*',
        '    protect: true',
        '  - match: preview/*',
        '    except: [preview/x, "preview/y*"]',
        '    primary: absent',
        '    replicas: { r: { size: 1 } }',
      ].join('\n'),
    )
    expect(rules).toMatchObject([
      { match: 'preview/keep-*', except: [], protect: true, replicas: [] },
      {
        match: 'preview/*',
        except: ['preview/x', 'preview/y*'],
        protect: false,
        primary: { absent: true },
        replicas: [{ key: 'r' }],
      },
    ])
  })

  test('`prune` defaults to false, and `parkOn` is read as a branch', () => {
    expect(readOne('branches: {}').prune).toBe(false)
    expect(readOne('branches: {}')).not.toHaveProperty('parkOn')
    expect(readOne('prune: true\nparkOn: parking')).toMatchObject({
      prune: true,
      parkOn: { ref: 'parking', source: { line: 4, column: 9, length: 7 } },
    })
  })
})

describe('the source of a value', () => {
  test('is its position in the defaults, in the profile or in the compute', () => {
    const { source, sources } = primaryOf(
      readOne(
        [
          'defaults:',
          '  disabled: false',
          'profiles:',
          '  p: { scaleToZero: 5m, postgres: { settings: { work_mem: 64MB } } }',
          'branches:',
          '  main:',
          '    primary:',
          '      profile: p',
          '      id: ep-a',
          '      size: { min: 1, max: 2 }',
        ].join('\n'),
      ),
    )
    expect(source).toEqual({ file: 'a.yaml', line: 9, column: 5, length: 7 })
    const places = Object.fromEntries(Object.entries(sources).map(([path, { line, column }]) => [path, [line, column]]))
    expect(places).toEqual({
      disabled: [4, 13],
      scaleToZero: [6, 21],
      'postgres.settings': [6, 47],
      'postgres.settings.work_mem': [6, 59],
      id: [11, 11],
      size: [12, 13],
    })
  })

  test('is its position in the shared file that sets it', () => {
    const [document] = read({
      'projects/a.yaml': `${HEAD}extends: ../shared.yaml\nbranches: { main: { primary: { profile: p } } }\n`,
      'shared.yaml': 'defaults: { size: 1 }\nprofiles: { p: { disabled: true } }\n',
    })
    const { attributes, sources } = primaryOf(document)
    expect(attributes).toEqual({ size: { min: 1, max: 1 }, disabled: true })
    expect(sources.size).toEqual({ file: 'shared.yaml', line: 1, column: 19, length: 1 })
    expect(sources.disabled).toEqual({ file: 'shared.yaml', line: 2, column: 28, length: 4 })
  })

  test('is correct after CRLF line endings and characters outside the Basic Multilingual Plane', () => {
    const { sources } = primaryOf(readOne('branches:\r\n  "🐘":\r\n    primary: { name: "🐘", size: 1 }\r\n'))
    expect(sources.size).toEqual({ file: 'a.yaml', line: 5, column: 34, length: 1 })
  })
})

describe('files and documents', () => {
  const own = 'extends: s.yaml\ndefaults: { size: 2 }\nprofiles: { p: { disabled: true } }\n'
  const shared = 'defaults: { size: 1, scaleToZero: 1m }\nprofiles: { p: { disabled: false }, q: { size: 4 } }\n'

  test('the defaults and profiles of a document take precedence over those of a shared file', () => {
    const [document] = read({
      'a.yaml': `${HEAD}${own}branches: { a: { primary: { profile: p } }, b: { primary: { profile: q } } }\n`,
      's.yaml': shared,
    })
    expect(document?.branches.map(({ primary }) => primary)).toMatchObject([
      { attributes: { size: { min: 2, max: 2 }, scaleToZero: 60, disabled: true } },
      { attributes: { size: { min: 4, max: 4 }, scaleToZero: 60 } },
    ])
  })

  test('a shared file that nothing extends declares nothing and is listed as read', () => {
    const { desired, files } = parseManifests([{ path: 's.yaml', text: shared }])
    expect([desired.documents, files]).toEqual([[], ['s.yaml']])
  })

  test('each document in a file is a manifest with its own defaults', () => {
    const documents = read({
      'a.yaml': `${HEAD}defaults: { size: 1 }\nbranches: { m: { primary: {} } }\n---\nversion: 1\nproject: other\nbranches: { m: { primary: {} } }\n`,
    })
    expect(documents.map(({ project, source }) => [project, source.line])).toEqual([
      ['quiet-river-12345678', 2],
      ['other', 7],
    ])
    expect(documents.map((document) => primaryOf(document).attributes)).toEqual([{ size: { min: 1, max: 1 } }, {}])
  })

  test('two documents can declare branches of one project', () => {
    const documents = read({ 'a.yaml': `${HEAD}branches: { a: {} }\n`, 'b.yaml': `${HEAD}branches: { b: {} }\n` })
    expect(documents.map(({ project, branches }) => [project, branches.map(({ ref }) => ref)])).toEqual([
      ['quiet-river-12345678', ['a']],
      ['quiet-river-12345678', ['b']],
    ])
  })

  test('`lineOf` returns the line that a source refers to', () => {
    const { lineOf } = parseManifests([{ path: 'a.yaml', text: `${HEAD}prune: true\r\nbranches: {}\n` }])
    expect(lineOf({ file: 'a.yaml', line: 3, column: 1, length: 1 })).toBe('prune: true')
    expect(lineOf({ file: 'a.yaml', line: 9, column: 1, length: 1 })).toBeUndefined()
    expect(lineOf({ file: 'b.yaml', line: 2, column: 1, length: 1 })).toBeUndefined()
  })
})

describe('a document', () => {
  test('has the expiry selector of each rule that sets one, and none for other rules', () => {
    const { rules } = readOne('rules: [{ match: a, expires: true }, { match: b, expires: false }, { match: c }]')
    expect(rules.map((rule) => ('expires' in rule ? rule.expires : 'none'))).toEqual([true, false, 'none'])
  })

  test('has `skipExpiring` in seconds with its position', () => {
    const { skipExpiring, sources } = readOne('skipExpiring: 2h')
    expect([skipExpiring, sources?.skipExpiring?.column]).toEqual([7_200, 15])
  })

  test('has no policies, window or `skipExpiring` if it declares none', () => {
    const document = readOne('branches: {}')
    for (const key of ['policies', 'restartWindow', 'skipExpiring', 'price', 'parkOn']) {
      expect(document).not.toHaveProperty(key)
      expect(document.sources).not.toHaveProperty(key)
    }
  })

  test('has the positions of `protect` and of the names of replicas', () => {
    const { branches } = readOne('branches: { main: { protect: true, replicas: { r: {} } } }')
    expect(branches[0]?.protectSource?.column).toBe(30)
    expect(branches[0]?.replicas[0]?.sources.name?.column).toBe(48)
  })
})

test('a replica can declare its previous name, even in a rule', () => {
  const replicas = 'replicas: { olap: { renamedFrom: bi } }'
  const { branches, rules } = readOne(`branches: { main: { ${replicas} } }\nrules: [{ match: "p/*", ${replicas} }]`)
  for (const shape of [...branches, ...rules])
    expect(shape.replicas).toMatchObject([{ key: 'olap', renamedFrom: 'bi' }])
})
