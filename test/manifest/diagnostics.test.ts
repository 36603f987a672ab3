import { describe, expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import type { DiagnosticCode } from '../../src/model/index.ts'

/** Lines 1 and 2; what follows starts on line 3. */
const HEAD = 'version: 1\nproject: quiet-river-12345678\n'
const doc = (body: string): string => `${HEAD}${body}\n`

/** An attribute of a primary: its key is on line 6, column 7. */
const attribute = (text: string): string => doc(`branches:\n  main:\n    primary:\n      ${text}`)

/** Its first key is on line 3, column 18. */
const window = (text: string): string => doc(`restartWindow: { ${text}, timezone: Europe/Berlin }`)

const diagnosticsOf = (text: string) => parseManifests([{ path: 'a.yaml', text }]).diagnostics

const WAVES = 'waves: [{ name: canary, projects: [a] }]'

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

type Row = readonly [name: string, yaml: string, code: DiagnosticCode, line: number, column: number]

const ROWS: readonly Row[] = [
  // YAML itself
  ['an unclosed bracket', doc('branches: { main: {}'), 'E_YAML', 3, 11],
  ['a tab as indentation', doc('branches:\n\tmain: {}'), 'E_YAML', 4, 1],
  ['a duplicate key', doc('prune: true\nprune: false'), 'E_DUPLICATE', 4, 1],
  ['a duplicate branch', doc('branches:\n  main: {}\n  main: {}'), 'E_DUPLICATE', 5, 3],
  ['a custom tag', attribute('size: !cu 1'), 'E_YAML', 6, 13],
  ['a standard tag', attribute('size: !!int 1'), 'E_YAML', 6, 19],
  ['a tag of a key', attribute('!!str size: 1'), 'E_YAML', 6, 13],
  [
    'more aliases than the limit',
    doc(`defaults: &d { size: 1 }\nprofiles: { ${Array.from({ length: 1_001 }, (_, at) => `p${at}: *d`).join(', ')} }`),
    'E_TOO_LARGE',
    4,
    13 + Array.from({ length: 1_000 }, (_, at) => `p${at}: *d, `).join('').length + 'p1000: '.length,
  ],
  ['an alias without an anchor', doc('branches: *all'), 'E_YAML', 3, 11],
  ['an alias before its anchor', doc('branches: { m: *all }\nprofiles: { p: &all {} }'), 'E_YAML', 3, 16],
  ['nesting that is too deep', doc(`branches: ${nested(100)}`), 'E_TOO_LARGE', 3, 11 + 64],
  ['an empty file', '', 'E_EMPTY', 1, 1],
  ['a file larger than 32 MiB', `# ${'x'.repeat(32 * 1024 * 1024)}\n`, 'E_TOO_LARGE', 1, 1],

  // the document
  ['a missing version', 'project: p\n', 'E_REQUIRED', 1, 1],
  ['a missing project', 'version: 1\nbranches: {}\n', 'E_REQUIRED', 1, 1],
  ['an unsupported version', 'version: 2\nproject: p\n', 'E_VALUE', 1, 10],
  ['a version in quotes', 'version: "1"\nproject: p\n', 'E_VALUE', 1, 10],
  ['a project that is not a valid id', 'version: 1\nproject: My Project\n', 'E_VALUE', 2, 10],
  ['a number as a project id', 'version: 1\nproject: 12\n', 'E_VALUE', 2, 10],
  ['a branch without a name', 'version: 1\nproject: p\nbranches:\n  "": { primary: {} }\n', 'E_VALUE', 4, 3],
  ['a list as a document', '- version: 1\n', 'E_VALUE', 1, 1],
  ['an unknown key', doc('branch: {}'), 'E_UNKNOWN_KEY', 3, 1],
  ['null as a value', doc('branches: null'), 'E_VALUE', 3, 11],
  ['a key without a value', doc('branches:'), 'E_VALUE', 3, 10],
  ['a branch without a value', doc('branches:\n  main: ~'), 'E_VALUE', 4, 9],
  ['a map as a key', doc('branches:\n  { a: b }: {}'), 'E_VALUE', 4, 3],
  ['a string for `prune`', doc('prune: "yes"'), 'E_VALUE', 3, 8],
  ['a map for `rules`', doc('rules: {}'), 'E_VALUE', 3, 8],

  // sizes
  ['a size between the steps', attribute('size: 3.5'), 'E_SIZE', 6, 13],
  ['a size above the largest step', attribute('size: 57'), 'E_SIZE', 6, 13],
  ['an infinite size', attribute('size: .inf'), 'E_SIZE', 6, 13],
  ['a minimum between the steps', attribute('size: { min: 0.3, max: 1 }'), 'E_SIZE', 6, 20],
  ['a size in quotes', attribute('size: "1"'), 'E_VALUE', 6, 13],
  ['a range without a maximum', attribute('size: { min: 1 }'), 'E_REQUIRED', 6, 13],
  ['a range that is too wide', attribute('size: { min: 1, max: 10 }'), 'E_SIZE', 6, 28],
  ['a minimum above the maximum', attribute('size: { min: 4, max: 1 }'), 'E_SIZE', 6, 20],
  ['autoscaling above 16 CU', attribute('size: { min: 16, max: 18 }'), 'E_SIZE', 6, 29],
  ['scale to zero above 16 CU', attribute('size: 18\n      scaleToZero: 5m'), 'E_SCALE_TO_ZERO_SIZE', 7, 20],
  [
    'inherited scale to zero above 16 CU',
    doc('defaults: { scaleToZero: 5m }\nbranches:\n  main:\n    primary: { size: 18 }'),
    'E_SCALE_TO_ZERO_SIZE',
    3,
    26,
  ],

  // durations
  ['a duration without a unit', attribute('scaleToZero: 300'), 'E_DURATION', 6, 20],
  ['a quoted duration without a unit', attribute('scaleToZero: "300"'), 'E_DURATION', 6, 20],
  ['a duration with a unit in words', attribute('scaleToZero: 5 minutes'), 'E_DURATION', 6, 20],
  ['duration units in the wrong order', attribute('scaleToZero: 5m1h'), 'E_DURATION', 6, 20],
  ['an empty duration', attribute('scaleToZero: ""'), 'E_DURATION', 6, 20],
  ['a duration that is too short', attribute('scaleToZero: 59s'), 'E_DURATION', 6, 20],
  ['a duration that is too long', attribute('scaleToZero: 7d1s'), 'E_DURATION', 6, 20],
  ['a duration of zero seconds', attribute('scaleToZero: 0s'), 'E_DURATION', 6, 20],

  // other attributes
  ['an unknown pooler mode', attribute('pooler: { mode: session }'), 'E_VALUE', 6, 23],
  ['a list as a Postgres setting', attribute('postgres: { settings: { work_mem: [1] } }'), 'E_VALUE', 6, 41],
  ['a string for `preload`', attribute('postgres: { preload: vector }'), 'E_VALUE', 6, 28],
  ['a map as a Postgres setting', attribute('postgres: { settings: { work_mem: {} } }'), 'E_VALUE', 6, 41],
  ['a pin that is not a compute id', attribute('id: br-cool-dawn'), 'E_VALUE', 6, 11],
  ['an empty compute name', attribute('name: ""'), 'E_VALUE', 6, 13],
  ['a compute name of 65 characters', attribute(`name: ${'n'.repeat(65)}`), 'E_VALUE', 6, 13],
  [
    'a primary with the name of a replica',
    doc('branches:\n  main:\n    primary: { name: reporting }\n    replicas: { reporting: { size: 1 } }'),
    'E_DUPLICATE',
    5,
    22,
  ],
  ['a primary that is a string other than `absent`', doc('branches:\n  main:\n    primary: none'), 'E_VALUE', 5, 14],
  ['a profile that is not defined', attribute('profile: small'), 'E_PROFILE_UNKNOWN', 6, 16],

  // prices, policies and expiry
  ['a price without a currency', doc('price: { cuHour: 0.222 }'), 'E_REQUIRED', 3, 8],
  ['a price of zero', doc('price: { cuHour: 0, currency: USD }'), 'E_VALUE', 3, 18],
  ['a currency that is not an ISO code', doc('price: { cuHour: 0.222, currency: dollars }'), 'E_VALUE', 3, 35],
  [
    'two prices for one project',
    `${doc('price: { cuHour: 0.222, currency: USD }')}\n---\n${doc('price: { cuHour: 0.16, currency: USD }')}`,
    'E_DUPLICATE',
    8,
    8,
  ],
  [
    'a policy with two rules',
    doc('policy:\n  - { name: a, level: deny, reason: r, rule: { maxSize: 1, minSize: 1 } }'),
    'E_POLICY_RULE',
    4,
    46,
  ],
  ['a policy without a reason', doc('policy:\n  - { name: a, level: deny, rule: { maxSize: 1 } }'), 'E_REQUIRED', 4, 5],
  ['`skipExpiring` without a unit', doc('skipExpiring: "60"'), 'E_DURATION', 3, 15],
  ['a string for `expires` in a rule', doc('rules:\n  - { match: "a/*", expires: never }'), 'E_VALUE', 4, 30],

  // restart windows
  ['a restart window without a time zone', doc('restartWindow: { from: "02:00", to: "04:00" }'), 'E_REQUIRED', 3, 16],
  ['an unknown string for `restartWindow`', doc('restartWindow: sundays'), 'E_VALUE', 3, 16],
  ['the full name of a weekday', window('days: [sunday], from: "02:00", to: "04:00"'), 'E_VALUE', 3, 25],
  ['a string for `days`', window('days: sun, from: "02:00", to: "04:00"'), 'E_VALUE', 3, 24],
  ['a restart window with no days', window('days: [], from: "02:00", to: "04:00"'), 'E_WINDOW', 3, 24],
  ['a restart window of zero length', window('from: "02:00", to: "02:00"'), 'E_WINDOW', 3, 37],
  ['a time without minutes', window('from: 2, to: "04:00"'), 'E_WINDOW', 3, 24],
  ['a restart window that starts at 24:00', window('from: "24:00", to: "04:00"'), 'E_WINDOW', 3, 24],
  [
    'a UTC offset as a time zone',
    doc('restartWindow: { from: "02:00", to: "04:00", timezone: +02:00 }'),
    'E_WINDOW',
    3,
    56,
  ],
  [
    'an unknown time zone',
    doc('restartWindow: { from: "02:00", to: "04:00", timezone: Europe/Berln }'),
    'E_WINDOW',
    3,
    56,
  ],

  // rules
  ['a rule without `match`', doc('rules:\n  - protect: true'), 'E_REQUIRED', 4, 5],
  ['a glob with an unclosed bracket', doc('rules:\n  - match: "preview/["'), 'E_GLOB', 4, 12],
  ['a glob with an unclosed brace', doc('rules:\n  - match: "preview/{a,b"'), 'E_GLOB', 4, 12],
  ['an invalid glob in `except`', doc('rules:\n  - match: a\n    except: ["["]'), 'E_GLOB', 5, 14],
  ['two rules for the same pattern', doc('rules:\n  - match: a/*\n  - match: a/*'), 'E_DUPLICATE', 5, 12],
  ['a pin in a rule', doc('rules:\n  - match: a\n    primary: { id: ep-a }'), 'E_UNKNOWN_KEY', 5, 16],

  // shared files
  ['a path in `extends` outside the current folder', doc('extends: ../platform.yaml'), 'E_EXTENDS', 3, 10],
  ['an absolute path in `extends`', doc('extends: /etc/platform.yaml'), 'E_EXTENDS', 3, 10],
  ['a missing file in `extends`', doc('extends: platform.yaml'), 'E_EXTENDS', 3, 10],

  ['a missing file in an `extends` list', doc('extends: [b.yaml]'), 'E_EXTENDS', 3, 11],

  // several projects
  ['`project` together with `projects`', doc('projects: [a, b]'), 'E_VALUE', 2, 10],
  ['an empty `projects` list', 'version: 1\nprojects: []\n', 'E_VALUE', 2, 11],
  ['a duplicate project in `projects`', 'version: 1\nprojects: [a, b, a]\n', 'E_DUPLICATE', 2, 18],
  ['an invalid project id in `projects`', 'version: 1\nprojects: [a, B]\n', 'E_VALUE', 2, 15],
  [
    'a pin in a document for several projects',
    'version: 1\nprojects: [a, b]\nbranches:\n  main:\n    replicas: { r: { id: ep-a } }\n',
    'E_ONE_PROJECT',
    5,
    26,
  ],
  [
    'a branch id in a document for several projects',
    'version: 1\nprojects: [a, b]\nbranches:\n  br-a: {}\n',
    'E_ONE_PROJECT',
    4,
    3,
  ],
  [
    'a branch id for `parkOn` in a document for several projects',
    'version: 1\nprojects: [a, b]\nparkOn: br-a\n',
    'E_ONE_PROJECT',
    3,
    9,
  ],
  ['`waves` in two documents', `${doc(WAVES)}---\nversion: 1\nproject: q\n${WAVES}\n`, 'E_DUPLICATE', 7, 17],
  [
    'two waves with the same name',
    doc('waves: [{ name: a, projects: [p] }, { name: a, projects: [q] }]'),
    'E_DUPLICATE',
    3,
    45,
  ],
  ['an invalid glob in a wave', doc('waves: [{ name: a, projects: ["["] }]'), 'E_GLOB', 3, 31],
  ['a wave without projects', doc('waves: [{ name: a, projects: [] }]'), 'E_VALUE', 3, 30],

  // several documents
  [
    'a branch in two documents',
    `${doc('branches: { main: {} }')}---\n${doc('branches: { main: {} }')}`,
    'E_DUPLICATE',
    7,
    13,
  ],
  [
    'two replicas of a branch with the same previous name',
    doc('branches: { main: { replicas: { a: { renamedFrom: old }, b: { renamedFrom: old } } } }'),
    'E_DUPLICATE',
    3,
    58,
  ],
  [
    'two replicas of a rule with the same previous name',
    doc('rules: [{ match: a, replicas: { a: { renamedFrom: old }, b: { renamedFrom: old } } }]'),
    'E_DUPLICATE',
    3,
    58,
  ],
  [
    'a compute that is pinned in two documents',
    `${doc('branches: { main: { primary: { id: ep-a } } }')}---\n${doc('branches: { dev: { primary: { id: ep-a } } }')}`,
    'E_DUPLICATE',
    7,
    35,
  ],
]

describe('manifest problems', () => {
  // promise: yaml-tags
  test.each(ROWS)('%s is reported with its code and position', (_name, yaml, code, line, column) => {
    const diagnostics = diagnosticsOf(yaml)
    expect(diagnostics.map(({ code, source }) => [code, source?.line, source?.column])).toEqual([[code, line, column]])
    expect(diagnostics[0]).toMatchObject({ severity: 'error', source: { file: 'a.yaml' } })
  })

  // promise: unmanaged
  test('an empty list of files is reported as E_NO_MANIFESTS, without a position', () => {
    const { diagnostics, desired } = parseManifests([])
    expect(diagnostics.map(({ code, source }) => [code, source])).toEqual([['E_NO_MANIFESTS', undefined]])
    expect(desired.documents).toEqual([])
  })
})

describe('hints', () => {
  const hints: readonly (readonly [yaml: string, hint: string | undefined])[] = [
    [doc('branch: {}'), 'Did you mean `branches`?'],
    [doc('kind: Deployment'), undefined],
    [doc('price: 0.222USD'), 'For example, write `price: { cuHour: 0.222, currency: USD }`.'],
    [attribute('scaletozero: 5m'), 'Did you mean `scaleToZero`?'],
    [attribute('size: 3.4'), 'The nearest valid size is `3`.'],
    [attribute('size: 17'), 'The nearest valid size is `16`.'],
    [attribute('size: 100'), 'The nearest valid size is `56`.'],
    [attribute('size: { min: 2, max: 12 }'), 'To get the nearest valid range, write `max: 10`.'],
    [attribute('size: { min: 0.25, max: 16 }'), 'To get the nearest valid range, write `max: 8`.'],
    [attribute('size: { min: 4, max: 1 }'), 'Write `{ min: 1, max: 4 }`.'],
    [attribute('scaleToZero: false'), 'Write `scaleToZero: never` to keep the compute active.'],
    [attribute('<<: { size: 1 }'), 'To share attributes, define them under `profiles`.'],
    [doc('branches: { main: { primary: { size: 1 } }'), 'Add the missing `}`.'],
    [doc('branches: [main'), 'Add the missing `]`.'],
    [doc('branches: "main'), 'Add the missing `"`.'],
    [doc('branches:\n    main: {}\n  spare: {}'), 'Indent it like them.'],
    [attribute('disabled: Off'), 'Write `false`: in YAML 1.2, `Off` is a string.'],
    [attribute('disabled: constructor'), undefined],
    [
      attribute('postgres: { work_mem: 64MB }'),
      'Postgres settings go under `settings`: `postgres: { settings: { work_mem: … } }`.',
    ],
    [attribute('postgres: { setings: {} }'), 'Did you mean `settings`?'],
    [doc('branches: { main: { replicas: { r: none } } }'), 'Write `r: absent` if the compute must not exist.'],
    [
      doc('rules: [{ match: "preview/*", primary: { id: ep-a-1 } }]'),
      'A rule applies to many branches, but `id` pins one compute. List its branch under `branches` instead.',
    ],
    [attribute('scaleToZero: 10s'), 'The nearest valid duration is `1m`.'],
    [attribute('scaleToZero: 30d'), 'The nearest valid duration is `7d`.'],
    [window('days: [Sunday], from: "02:00", to: "04:00"'), 'Did you mean `sun`?'],
    [window('from: 2, to: "04:00"'), 'Write `"02:00"`.'],
    [doc('restartWindow: { from: "02:00", to: "04:00", timezone: New York }'), 'Did you mean `America/New_York`?'],
    [doc('restartWindow: { from: "02:00", to: "04:00", timezone: Europe/Berln }'), 'Did you mean `Europe/Berlin`?'],
    [
      doc('profiles: { small: {}, large: {} }\nbranches: { main: { primary: { profile: smal } } }'),
      'Did you mean `small`?',
    ],
  ]
  test.each(hints)('the hint for %j says how to fix it', (yaml, hint) => {
    expect(diagnosticsOf(yaml).map(({ hint }) => hint)).toEqual([hint])
  })
})

describe('accepted manifests', () => {
  test.each([
    ['the largest step of the size table', attribute('size: 56\n      scaleToZero: never')],
    ['a range with the largest allowed spread', attribute('size: { min: 8, max: 16 }')],
    ['a range above 16 CU whose ends are equal', attribute('size: { min: 20, max: 20 }')],
    ['the shortest and the longest duration', attribute('scaleToZero: 1m\n    replicas: { r: { scaleToZero: 7d } }')],
    [
      '1,000 aliases',
      doc(`defaults: &d {}\nprofiles: { ${Array.from({ length: 1_000 }, (_, at) => `p${at}: *d`).join(', ')} }`),
    ],
    ['a document separator at the end of the file', `${HEAD}---\n# nothing more\n`],
    ['a name of 64 characters', attribute(`name: ${'n'.repeat(64)}`)],
    [
      'the same pin in two projects',
      `${doc('branches: { m: { primary: { id: ep-a } } }')}---\nversion: 1\nproject: other\nbranches: { m: { primary: { id: ep-a } } }\n`,
    ],
    ['a file that contains only defaults', 'defaults: { size: 1 }\n'],
  ])('%s is accepted', (_name, yaml) => {
    expect(diagnosticsOf(yaml)).toEqual([])
  })
})

describe('shared files', () => {
  const at = (files: Readonly<Record<string, string>>) =>
    parseManifests(Object.entries(files).map(([path, text]) => ({ path, text }))).diagnostics.map(
      ({ code, source }) => [code, source?.file, source?.line, source?.column],
    )

  test('two files that extend each other are reported as invalid shared files', () => {
    const other = (name: string) => `version: 1\nproject: p\nextends: ${name}\n`
    expect(at({ 'a.yaml': other('b.yaml'), 'b.yaml': other('a.yaml') })).toEqual([
      ['E_UNKNOWN_KEY', 'a.yaml', 2, 1],
      ['E_UNKNOWN_KEY', 'a.yaml', 3, 1],
      ['E_UNKNOWN_KEY', 'b.yaml', 2, 1],
      ['E_UNKNOWN_KEY', 'b.yaml', 3, 1],
    ])
  })

  test('a missing shared file is reported for each document that extends it', () => {
    expect(
      at({ 'a.yaml': doc('extends: s.yaml'), 'b.yaml': HEAD.replace('12345678', 'x').concat('extends: s.yaml\n') }),
    ).toEqual([
      ['E_EXTENDS', 'a.yaml', 3, 10],
      ['E_EXTENDS', 'b.yaml', 3, 10],
    ])
  })

  test('an unknown profile is not reported when an extended file is missing', () => {
    const profile = 'branches: { main: { primary: { profile: small } } }'
    expect(at({ 'a.yaml': doc(`extends: s.yaml\n${profile}`) })).toEqual([['E_EXTENDS', 'a.yaml', 3, 10]])
  })

  test('the hint for a shared file outside the current folder says where to run Espalier', () => {
    const [problem] = diagnosticsOf(doc('extends: ../s.yaml'))
    expect(problem?.hint).toBe('Run Espalier in a folder that also contains the shared file.')
  })

  test('a problem in a shared file is reported once, at its position in that file', () => {
    expect(
      at({
        'a.yaml': doc('extends: s.yaml'),
        'b.yaml': 'version: 1\nproject: other\nextends: s.yaml\n',
        's.yaml': 'defaults:\n  size: 3.5\n',
      }),
    ).toEqual([['E_SIZE', 's.yaml', 2, 9]])
  })
})

test('the problems in all files are reported together, sorted by file and line', () => {
  const { diagnostics } = parseManifests([
    { path: 'b.yaml', text: attribute('size: 3.5\n      scaleToZero: 300').replace('main', 'dev') },
    {
      path: 'a.yaml',
      text: `${attribute('colour: red\n      size: { min: 9, max: 1 }')}---\nversion: 2\nproject: p\n`,
    },
    { path: 'c.yaml', text: 'a: [\n' },
  ])
  expect(diagnostics.map(({ code, source }) => `${source?.file}:${source?.line} ${code}`)).toEqual([
    'a.yaml:6 E_UNKNOWN_KEY',
    'a.yaml:7 E_SIZE',
    'a.yaml:9 E_VALUE',
    'b.yaml:6 E_SIZE',
    'b.yaml:7 E_DURATION',
    'c.yaml:1 E_YAML',
  ])
})

test.each([
  ['rules:\n  - match: a\n    id: ep-a', 'An entry of `rules` cannot contain the key `id`.'],
  ['branches:\n  "0": { id: ep-a }', '`0` cannot contain the key `id`.'],
])('an unknown key is reported with the name of its parent: %s', (body, start) => {
  const [first] = diagnosticsOf(doc(body))
  expect(first?.message.slice(0, start.length)).toBe(start)
})

describe('the rest of a document with invalid values', () => {
  const parsed = (...texts: readonly string[]) => {
    const { desired, diagnostics } = parseManifests(texts.map((text, at) => ({ path: `${at}.yaml`, text })))
    return { documents: desired.documents, problems: diagnostics.map(({ code, source }) => [code, source?.file]) }
  }

  test('is read', () => {
    const { documents, problems } = parsed(
      doc('prune: true\nbranches: { main: { primary: { size: banana, scaleToZero: 5m, colour: red } }, dev: 3 }'),
    )
    expect(problems.map(([code]) => code)).toEqual(['E_VALUE', 'E_UNKNOWN_KEY', 'E_VALUE'])
    expect(documents).toMatchObject([{ prune: true, branches: [{ ref: 'main' }] }])
    expect(documents[0]?.branches[0]?.primary).toMatchObject({ attributes: { scaleToZero: 300 } })
    expect(documents[0]?.branches).toHaveLength(1)
  })

  test('is compared with other documents', () => {
    const branch = (primary: string) => doc(`branches: { main: { primary: ${primary} } }`)
    expect(parsed(branch('{ size: banana }'), branch('{}')).problems).toEqual([
      ['E_VALUE', '0.yaml'],
      ['E_DUPLICATE', '1.yaml'],
    ])
  })

  test('contains both size and scale to zero if only their combination is invalid', () => {
    const { documents, problems } = parsed(doc('branches: { main: { primary: { size: 32, scaleToZero: 5m } } }'))
    expect(problems).toEqual([['E_SCALE_TO_ZERO_SIZE', '0.yaml']])
    expect(documents[0]?.branches[0]?.primary).toMatchObject({ attributes: { size: { max: 32 }, scaleToZero: 300 } })
  })

  test('is empty if the document is not a map', () => {
    expect(parsed('[1, 2]')).toEqual({ documents: [], problems: [['E_VALUE', '0.yaml']] })
  })
})

test('at most 1,000 problems per document are reported', () => {
  const branches = Array.from({ length: 1_003 }, (_, at) => `  b${at}: { protect: 1 }`)
  expect(diagnosticsOf(doc(`branches:\n${branches.join('\n')}`))).toHaveLength(1_000)
})

describe('a size and a scale to zero from different places', () => {
  const primary = (size: number) => `branches: { main: { primary: { size: ${size} } } }`

  test('are valid together up to and including 16 CU', () => {
    expect(diagnosticsOf(doc(`defaults: { scaleToZero: 5m }\n${primary(16)}`))).toEqual([])
    expect(diagnosticsOf(doc(`defaults: { scaleToZero: never }\n${primary(18)}`))).toEqual([])
  })

  test('are reported at the size if the scale to zero is in a shared file', () => {
    const shared = { path: 's.yaml', text: 'defaults: { scaleToZero: 5m }\n' }
    const { diagnostics } = parseManifests([{ path: 'a.yaml', text: doc(`extends: s.yaml\n${primary(18)}`) }, shared])
    expect(diagnostics).toMatchObject([
      { code: 'E_SCALE_TO_ZERO_SIZE', source: { file: 'a.yaml', line: 4, column: 38 } },
    ])
  })
})

test('an unknown profile is reported with a list of the defined ones, if there are any', () => {
  const compute = 'branches: { main: { primary: { profile: smal } } }'
  expect(diagnosticsOf(doc(compute))).toMatchObject([
    { message: 'The profile `smal` is not defined. No profiles are defined.', hint: 'Define it under `profiles`.' },
  ])
  expect(diagnosticsOf(doc(`profiles: { small: {} }\n${compute}`))).toMatchObject([
    { message: 'The profile `smal` is not defined. Defined profiles: `small`.' },
  ])
})

test('a duplicate claim is reported with the position of the first claim, even in another file', () => {
  const { diagnostics } = parseManifests([
    { path: 'a.yaml', text: doc('branches:\n  main: {}') },
    { path: 'b.yaml', text: doc('branches:\n  main: {}') },
  ])
  expect(diagnostics.map(({ code, source, message }) => [code, source?.file, message])).toEqual([
    [
      'E_DUPLICATE',
      'b.yaml',
      'Branch `main` of project `quiet-river-12345678` is declared twice: here and at a.yaml:4.',
    ],
  ])
})
