/** Documents for several projects and shared files: which value takes precedence, and where it comes from. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import { type Desired, type DesiredCompute, isAbsence, waveOf } from '../../src/model/index.ts'
import { runs } from '../long-runs.ts'

type Files = Readonly<Record<string, string>>

const load = (files: Files) => parseManifests(Object.entries(files).map(([path, text]) => ({ path, text })))

const read = (files: Files): Desired => {
  const { desired, diagnostics } = load(files)
  expect(diagnostics).toEqual([])
  return desired
}

const primaryOf = ({ documents }: Desired): DesiredCompute => {
  const primary = documents[0]?.branches[0]?.primary
  if (primary === undefined || isAbsence(primary)) throw new Error('no primary')
  return primary
}

describe('a document for several projects', () => {
  const fleet = 'version: 1\nprojects: [a, b]\nprune: true\nbranches: { main: { primary: { size: 2 } } }\n'

  test('declares the same branches for each project', () => {
    const { documents } = read({ 'fleet.yaml': fleet })
    expect(documents.map(({ project, source }) => [project, source.column])).toEqual([
      ['a', 12],
      ['b', 15],
    ])
    expect(documents.every(({ prune, branches }) => prune && branches[0]?.ref === 'main')).toBe(true)
  })

  test('cannot declare a branch that another document declares', () => {
    const { diagnostics } = load({
      'fleet.yaml': fleet,
      'one.yaml': 'version: 1\nproject: b\nbranches: { main: {} }\n',
    })
    expect(diagnostics).toMatchObject([
      { code: 'E_DUPLICATE', message: expect.stringContaining('fleet.yaml:4'), source: { file: 'one.yaml', line: 3 } },
    ])
  })

  test('does not mark its rules as shared if `projects` lists only one project', () => {
    const { documents } = read({ 'one.yaml': 'version: 1\nprojects: [a]\nrules: [{ match: "preview/*" }]\n' })
    expect(documents[0]?.rules[0]).not.toHaveProperty('isShared')
  })

  test('marks its rules as shared, because they need not match a branch in every project', () => {
    const { documents } = read({ 'fleet.yaml': 'version: 1\nprojects: [a, b]\nrules: [{ match: "preview/*" }]\n' })
    expect(documents.map(({ rules }) => rules[0]?.isShared)).toEqual([true, true])
  })
})

describe('a shared file', () => {
  test('can contain every key except `project` and `projects`', () => {
    const desired = read({
      'a.yaml': 'version: 1\nproject: a\nextends: s.yaml\n',
      's.yaml': [
        'restartWindow: { from: "02:00", to: "04:00", timezone: UTC }',
        'prune: true',
        'parkOn: spare',
        'branches: { main: { protect: true, primary: { size: 1 } } }',
        'rules: [{ match: "preview/*", primary: { size: 0.25 } }]',
      ].join('\n'),
    })
    expect(desired.documents).toMatchObject([
      {
        project: 'a',
        restartWindow: { from: '02:00' },
        prune: true,
        parkOn: { ref: 'spare', source: { file: 's.yaml', line: 3 } },
        branches: [{ ref: 'main', protect: true, primary: { restartWindow: { from: '02:00' } } }],
        rules: [{ match: 'preview/*', isShared: true }],
        sources: { prune: { file: 's.yaml', line: 2 }, restartWindow: { file: 's.yaml', line: 1 } },
      },
    ])
  })

  test('adds its rules after those of the document, unless the document has a rule for the same pattern', () => {
    const { documents } = read({
      'a.yaml':
        'version: 1\nproject: a\nextends: [s.yaml, t.yaml]\nrules: [{ match: own }, { match: both, protect: true }]\n',
      's.yaml': 'rules: [{ match: far }, { match: both }]\n',
      't.yaml': 'rules: [{ match: near }]\n',
    })
    expect(documents[0]?.rules.map(({ match, protect }) => [match, protect])).toEqual([
      ['own', false],
      ['both', true],
      ['near', false],
      ['far', false],
    ])
  })

  test('adds a rule for expiring branches even if the document has another rule for the same pattern', () => {
    const { documents } = read({
      'a.yaml': 'version: 1\nproject: a\nextends: s.yaml\nrules: [{ match: p, protect: true }]\n',
      's.yaml': 'rules: [{ match: p }, { match: p, expires: true }]\n',
    })
    expect(documents[0]?.rules.map(({ expires, protect }) => [expires, protect])).toEqual([
      [undefined, true],
      [true, false],
    ])
  })

  test('adds replicas to a branch whose primary the document declares, and the other way round', () => {
    const merged = (below: string, above: string) => {
      const { documents } = read({
        'a.yaml': `version: 1\nproject: a\nextends: s.yaml\nbranches: { main: { ${above} } }\n`,
        's.yaml': `branches: { main: { ${below} } }\n`,
      })
      return documents[0]?.branches[0]
    }
    const [primary, replicas] = ['primary: { size: 2 }', 'replicas: { r: { size: 1 } }']
    for (const branch of [merged(replicas, primary), merged(primary, replicas)]) {
      expect(branch).toMatchObject({
        primary: { attributes: { size: { min: 2 } } },
        replicas: [{ key: 'r', attributes: { size: { min: 1 } } }],
      })
    }
  })

  test('adds its policies to those of the document', () => {
    const policy = (name: string) => `policy: [{ name: ${name}, level: warn, reason: Costs., rule: { maxSize: 1 } }]\n`
    const { documents } = read({
      'a.yaml': `version: 1\nproject: a\nextends: s.yaml\n${policy('own')}`,
      's.yaml': policy('shared'),
    })
    expect(documents[0]?.policies?.map(({ name }) => name)).toEqual(['shared', 'own'])
  })

  test('`absent` and attributes replace each other for a replica too', () => {
    const { documents } = read({
      'a.yaml':
        'version: 1\nproject: a\nextends: s.yaml\nbranches: { main: { replicas: { a: absent, b: { size: 2 } } } }\n',
      's.yaml': 'branches: { main: { replicas: { a: { size: 1 }, b: absent } } }\n',
    })
    expect(documents[0]?.branches[0]).toMatchObject({
      replicas: [{ key: 'b', attributes: { size: { min: 2 } } }],
      absentReplicas: [{ key: 'a', source: { file: 'a.yaml' } }],
    })
  })

  test.each([
    [
      '`absent` replaces a compute in the shared file',
      '{ size: 1 }',
      'absent',
      { absent: true, source: { file: 'a.yaml' } },
    ],
    ['a compute replaces `absent` in the shared file', 'absent', '{ size: 1 }', { attributes: { size: { min: 1 } } }],
    [
      'a compute inherits the attributes that it does not set from the shared file',
      '{ size: 1, disabled: true }',
      '{ size: 2 }',
      { attributes: { size: { min: 2 }, disabled: true } },
    ],
  ])('%s', (_name, below, above, primary) => {
    const { documents } = read({
      'a.yaml': `version: 1\nproject: a\nextends: s.yaml\nbranches: { main: { primary: ${above} } }\n`,
      's.yaml': `branches: { main: { protect: true, primary: ${below} } }\n`,
    })
    expect(documents[0]?.branches).toMatchObject([{ ref: 'main', protect: true, primary }])
  })

  test('cannot pin a compute', () => {
    const { diagnostics } = load({
      'a.yaml': 'version: 1\nproject: a\nextends: s.yaml\n',
      's.yaml': 'branches: { main: { primary: { id: ep-a } } }\n',
    })
    expect(diagnostics).toMatchObject([
      { code: 'E_ONE_PROJECT', hint: 'Pin it in a document with one `project`.', source: { file: 's.yaml' } },
    ])
  })

  test('is reported as a manifest without a project if it declares branches and no file extends it', () => {
    const text = 'version: 1\nbranches: { main: {} }\n'
    expect(load({ 'a.yaml': text }).diagnostics).toMatchObject([{ code: 'E_REQUIRED' }])
    read({ 'a.yaml': text, 'b.yaml': 'version: 1\nproject: b\nextends: a.yaml\n' })
    read({ 'a.yaml': 'defaults: { size: 1 }\n' })
  })

  test('cannot give its branches to two documents of one project', () => {
    const document = 'version: 1\nproject: a\nextends: s.yaml\n'
    const { diagnostics } = load({ 'a.yaml': `${document}---\n${document}`, 's.yaml': 'branches: { main: {} }\n' })
    expect(diagnostics).toMatchObject([
      { code: 'E_DUPLICATE', message: expect.stringContaining('two documents of the project extend this file') },
    ])
  })
})

describe('precedence', () => {
  /** The places where a compute's size can be declared, in increasing precedence. */
  const SITES = ['defaults in s', 'defaults in t', 'defaults', 'profile', 'compute in s', 'compute in t', 'compute']
  const sizes = fc.uniqueArray(fc.integer({ min: 0, max: SITES.length - 1 }), { minLength: 1 })
  /** The files that define the profile. The last definition replaces the others. */
  const homes = fc.uniqueArray(fc.constantFrom('s', 't', 'a'), { minLength: 1 })

  test('the size and the source of a compute come from the place with the highest precedence', () => {
    fc.assert(
      fc.property(sizes, homes, (sites, profiles) => {
        const size = (site: string): string =>
          sites.includes(SITES.indexOf(site)) ? `size: ${SITES.indexOf(site) + 1}` : ''
        const home = ['a', 't', 's'].find((one) => profiles.includes(one as 's'))
        const body = (file: string, name: string): string =>
          [
            `defaults: { ${size(`defaults${name}`)} }`,
            `profiles: { ${profiles.includes(file as 's') ? `p: { ${file === home ? size('profile') : 'size: 16'} }` : ''} }`,
            `branches: { main: { primary: { ${[size(`compute${name}`), 'profile: p'].filter((one) => one !== '').join(', ')} } } }`,
          ].join('\n')
        const { attributes, sources } = primaryOf(
          read({
            'a.yaml': `version: 1\nproject: a\nextends: [s.yaml, t.yaml]\n${body('a', '')}\n`,
            's.yaml': `${body('s', ' in s')}\n`,
            't.yaml': `${body('t', ' in t')}\n`,
          }),
        )
        const top = Math.max(...sites)
        expect(attributes.size).toEqual({ min: top + 1, max: top + 1 })
        const file = SITES[top] === 'profile' ? home : (/ in (.)$/.exec(SITES[top] ?? '')?.[1] ?? 'a')
        expect(sources.size?.file).toBe(`${file}.yaml`)
      }),
      { numRuns: runs(200) },
    )
  })

  const LINES = {
    prune: ['prune: true', 'prune: false'],
    parkOn: ['parkOn: x', 'parkOn: y'],
    restartWindow: ['restartWindow: always', 'restartWindow: { from: "02:00", to: "03:00", timezone: UTC }'],
  } as const

  test.each(Object.entries(LINES))(
    '`%s` of the document takes precedence over the last extended file, which takes precedence over the first',
    (key, [one, other]) => {
      const shared = { 's.yaml': `${one}\n`, 't.yaml': `${other}\n` }
      const head = 'version: 1\nproject: a\nextends: [s.yaml, t.yaml]\n'
      const sourceOf = (files: Files) => read(files).documents[0]?.sources?.[key]?.file
      expect(sourceOf({ ...shared, 'a.yaml': head })).toBe('t.yaml')
      expect(sourceOf({ ...shared, 'a.yaml': `${head}${one}\n` })).toBe('a.yaml')
    },
  )
})

describe('waves', () => {
  const waves = 'waves:\n  - { name: canary, projects: [a] }\n  - { name: eu, projects: ["eu-*"] }\n'

  test.each([
    ['a document', { 'a.yaml': `version: 1\nproject: a\n${waves}` }],
    [
      'a file that several documents extend',
      {
        'a.yaml': 'version: 1\nproject: a\nextends: s.yaml\n',
        'b.yaml': 'version: 1\nproject: eu-b\nextends: s.yaml\n',
        's.yaml': waves,
      },
    ],
    ['a separate file', { 'a.yaml': 'version: 1\nproject: a\n', 'waves.yaml': waves }],
  ])('are read from %s', (_where, files: Files) => {
    const { waves: found = [] } = read(files)
    expect(found.map(({ name }) => name)).toEqual(['canary', 'eu'])
    expect(['a', 'eu-b', 'other'].map((project) => waveOf(found, project))).toEqual([0, 1, 2])
  })
})
