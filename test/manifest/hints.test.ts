/** Manifests with a mistake, edited as the hint says. */
import { expect, test } from 'vitest'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'

const diagnosticsOf = (body: string) =>
  parseManifests([{ path: 'm.yaml', text: `version: 1\nproject: shop\n${body}\n` }]).diagnostics
const primary = (attributes: string): string => `branches: { main: { primary: { ${attributes} } } }`
const WINDOW = 'days: [sun], timezone: UTC'

// hint: Write `…: absent` if the compute must not exist.
// hint: Write `scaleToZero: never` to keep the compute active.
// hint: Write `scaleToZero: never`, or a size of at most … CU.
// hint: Add `…`.` : `Add `…`, for example `…: …`.
// hint: For example, write `…: …`.
// hint: For the whole day, write `from: "00:00"` and `to: "24:00"`. For no window, write `restartWindow: always`.
// hint: For example, write `currency: USD`.
// hint: Write `…: …`.
test.each([
  ['primary: absent', 'branches: { main: { primary: none } }', 'branches: { main: { primary: absent } }'],
  ['scaleToZero: never', primary('size: 24, scaleToZero: 5m'), primary('size: 24, scaleToZero: never')],
  ['scaleToZero: never', primary('scaleToZero: off'), primary('scaleToZero: never')],
  ['size: 1', primary('size: 1CU'), primary('size: 1')],
  ['max: 16', primary('size: { min: 9, max: 18 }'), primary('size: { min: 9, max: 16 }')],
  ['size: 18', primary('size: { min: 9, max: 18 }'), primary('size: 18')],
  ['match: preview/*', 'rules: [{ primary: {} }]', 'rules: [{ match: "preview/*", primary: {} }]'],
  ['settings: { work_mem: 64MB }', primary('postgres: 1'), primary('postgres: { settings: { work_mem: 64MB } }')],
  [
    'from: "00:00"` and `to: "24:00"',
    `restartWindow: { ${WINDOW}, from: "02:00", to: "02:00" }`,
    `restartWindow: { ${WINDOW}, from: "00:00", to: "24:00" }`,
  ],
  ['restartWindow: always', `restartWindow: { ${WINDOW}, from: "02:00", to: "02:00" }`, 'restartWindow: always'],
  ['currency: USD', 'price: { currency: dollars, cuHour: 1 }', 'price: { currency: USD, cuHour: 1 }'],
])('the edit `%s` corrects the manifest', (edit, mistake, corrected) => {
  const [first] = diagnosticsOf(mistake)
  expect(first?.severity).toBe('error')
  expect(first?.hint).toContain(edit)
  expect(diagnosticsOf(corrected).filter(({ severity }) => severity === 'error')).toEqual([])
})

// hint: Write …, or the fixed size `size: …`.
test('every range that a hint suggests is valid', () => {
  const limits = [0.1, 0.25, 0.3, 2, 3.4, 9, 16, 17, 18, 57]
  const ends = (min: number | undefined, max: number | undefined): string =>
    [min === undefined ? [] : `min: ${min}`, max === undefined ? [] : `max: ${max}`].flat().join(', ')
  const valid = [0.25, 1, 2, 8, 9, 16]
  const wrong = [
    ...limits.flatMap((min) => limits.map((max) => ends(min, max))),
    ...valid.flatMap((cu) => [ends(cu, undefined), ends(undefined, cu)]),
  ]
  const sizeOf = (size: string) => primary(`size: { ${size} }`)
  for (const size of new Set(wrong)) {
    const [first] = diagnosticsOf(sizeOf(size))
    if (first === undefined) continue
    const [, key, value] = /`\{? ?(min|max): ([\d.]+)/.exec(first.hint ?? '') ?? []
    const both = /`\{ (min: [\d.]+, max: [\d.]+) \}`/.exec(first.hint ?? '')?.[1]
    const kept = size.split(', ').filter((one) => !one.startsWith(`${key}:`))
    const corrected = both ?? [...kept, `${key}: ${value}`].join(', ')
    expect({ size, hint: first.hint, wrong: diagnosticsOf(sizeOf(corrected)).map(({ message }) => message) }).toEqual({
      size,
      hint: first.hint,
      wrong: [],
    })
  }
})

const HEAD = 'version: 1\nproject: shop\n'
const policy = (name: string, rest: string): string => `{ name: ${name}, level: deny, reason: cost, ${rest} }`

// hint: Remove the tag.
// hint: Replace the tab with spaces.
// hint: Put the value in quotes.
// hint: Put a value that contains `: ` in quotes.
// hint: Move the content of one entry into the other.
// hint: Keep one of the two.
// hint: Rename one of the two.
// hint: Merge the two documents.
// hint: Write a path relative to this file.
// hint: Define all waves in one file, for example a shared file.
// hint: Define it under `profiles`.
// hint: Remove `per`.
// hint: Select projects with `projects` instead.
// hint: Write the name of the branch instead.
// hint: Write `version: 1`.
// hint: Write `"…:…"`.
// hint: Write a duration from 1m to 7d, `default` or `never`.
// hint: Write ….
// hint: Use an IANA name, such as `Europe/Berlin` or `UTC`.
// hint: Set a value, or delete the line. Settings that are left out are not managed.
// hint: Write `…`: in YAML 1.2, `…` is a string.
// hint: Write `…` without quotes.
// hint: Add the colon, or delete the line.
// hint: Add a manifest, or delete the file.
// hint: Add `project` with the project id. Only shared files may omit it, and no manifest extends this one.
// hint: Copy the id from the Settings page of the console. The project name is not accepted.
// hint: Write another name, or leave it out.
test.each<readonly [hint: string, mistake: string, corrected: string, shared?: string]>([
  ['Remove the tag.', 'prune: !no true', 'prune: true'],
  ['Replace the tab with spaces.', 'branches:\n\tmain: {}', 'branches:\n  main: {}'],
  ['Add the colon, or delete the line.', 'prune\nparkOn: spare', 'prune: true\nparkOn: spare'],
  ['Add a manifest, or delete the file.', '# Nothing yet', 'prune: true'],
  [
    'Add `project` with the project id. Only shared files may omit it, and no manifest extends this one.',
    'version: 1\nprune: true',
    'prune: true',
  ],
  [
    'Copy the id from the Settings page of the console. The project name is not accepted.',
    'version: 1\nproject: My Shop',
    '',
  ],
  ['Write another name, or leave it out.', primary('name: ""'), primary('name: bi')],
  ['Write another name, or leave it out.', primary('name: "a\\tb"'), primary('')],
  ['Put the value in quotes.', primary('name: @bi'), primary('name: "@bi"')],
  [
    'Put a value that contains `: ` in quotes.',
    'branches:\n  main:\n    primary:\n      name: a: b',
    'branches:\n  main:\n    primary:\n      name: "a: b"',
  ],
  [
    'Move the content of one entry into the other.',
    'branches: { main: { primary: {} }, main: { protect: true } }',
    'branches: { main: { primary: {}, protect: true } }',
  ],
  [
    'Move the content of one entry into the other.',
    `branches: { main: { primary: {} } }\n---\n${HEAD}branches: { main: { protect: true } }`,
    'branches: { main: { primary: {}, protect: true } }',
  ],
  ['Keep one of the two.', 'prune: true\nprune: false', 'prune: false'],
  ['Keep one of the two.', 'projects: [shop]', ''],
  ['Keep one of the two.', 'version: 1\nprojects: [a, a]', 'version: 1\nprojects: [a]'],
  [
    'Keep one of the two.',
    'branches: { a: { primary: { id: ep-a-1 } }, b: { primary: { id: ep-a-1 } } }',
    'branches: { a: { primary: { id: ep-a-1 } }, b: { primary: {} } }',
  ],
  ['Keep one of the two.', `tier: free\n---\n${HEAD}tier: scale`, `tier: scale\n---\n${HEAD}`],
  ['Keep one of the two.', 'rules: [{ match: a }, { match: a }]', 'rules: [{ match: a }]'],
  [
    'Rename one of the two.',
    'branches: { main: { primary: { name: bi }, replicas: { bi: {} } } }',
    'branches: { main: { primary: { name: main }, replicas: { bi: {} } } }',
  ],
  [
    'Rename one of the two.',
    'waves: [{ name: a, projects: ["*"] }, { name: a, projects: [shop] }]',
    'waves: [{ name: a, projects: ["*"] }, { name: b, projects: [shop] }]',
  ],
  [
    'Merge the two documents.',
    `extends: s.yaml\n---\n${HEAD}extends: s.yaml\nprune: true`,
    'extends: s.yaml\nprune: true',
    'branches: { main: {} }',
  ],
  ['Write a path relative to this file.', 'extends: /s.yaml', 'extends: s.yaml', 'defaults: { size: 1 }'],
  [
    'Define all waves in one file, for example a shared file.',
    'extends: s.yaml\nwaves: [{ name: a, projects: [shop] }]',
    'extends: s.yaml',
    'waves: [{ name: a, projects: [shop] }, { name: b, projects: ["*"] }]',
  ],
  ['Define it under `profiles`.', primary('profile: small'), `profiles: { small: {} }\n${primary('profile: small')}`],
  [
    'Write the name of the branch instead.',
    'version: 1\nprojects: [a, b]\nbranches: { br-main-1: {} }',
    'version: 1\nprojects: [a, b]\nbranches: { main: {} }',
  ],
  ['Write `version: 1`.', 'version: 2\nproject: shop', 'version: 1\nproject: shop'],
  [
    'Write `"09:30"`.',
    `restartWindow: { ${WINDOW}, from: "9:30", to: "24:00" }`,
    `restartWindow: { ${WINDOW}, from: "09:30", to: "24:00" }`,
  ],
  ['Write a duration from 1m to 7d, `default` or `never`.', primary('scaleToZero: 5'), primary('scaleToZero: default')],
  ['Write `300s` or `5m`.', primary('scaleToZero: 300'), primary('scaleToZero: 5m')],
  [
    'Use an IANA name, such as `Europe/Berlin` or `UTC`.',
    'restartWindow: { from: "02:00", to: "04:00", timezone: Mars/Base }',
    'restartWindow: { from: "02:00", to: "04:00", timezone: UTC }',
  ],
  [
    'Set a value, or delete the line. Settings that are left out are not managed.',
    'branches: { main: { replicas: } }',
    'branches: { main: {} }',
  ],
  ['Write `true`: in YAML 1.2, `yes` is a string.', primary('disabled: yes'), primary('disabled: true')],
  ['Write `2` without quotes.', primary('size: "2"'), primary('size: 2')],
  [
    'Rename one of the two.',
    `policies: [${policy('a', 'rule: { maxSize: 1 }')}, ${policy('a', 'rule: { maxSize: 2 }')}]`,
    `policies: [${policy('a', 'rule: { maxSize: 1 }')}, ${policy('b', 'rule: { maxSize: 2 }')}]`,
  ],
  [
    'Remove `per`.',
    `policies: [${policy('a', 'rule: { maxSize: 1 }, per: day')}]`,
    `policies: [${policy('a', 'rule: { maxSize: 1 }')}]`,
  ],
  [
    'Select projects with `projects` instead.',
    `policies: [${policy('a', 'rule: { maxDeletes: 1 }, branches: [main]')}]`,
    `policies: [${policy('a', 'rule: { maxDeletes: 1 }, projects: [shop]')}]`,
  ],
])('the hint `%s` corrects %j', (hint, mistake, corrected, shared) => {
  const errorsOf = (body = '') => {
    const text = /^(version|#)/.test(body) ? `${body}\n` : `${HEAD}${body}\n`
    const files = shared === undefined ? [] : [{ path: 's.yaml', text: `${shared}\n` }]
    const { diagnostics } = body.startsWith('policies')
      ? parsePolicies([{ path: 'p.yaml', text: `version: 1\n${body}\n` }])
      : parseManifests([{ path: 'm.yaml', text }, ...files])
    return diagnostics.filter(({ severity }) => severity === 'error')
  }
  expect(errorsOf(mistake)).toMatchObject([{ hint }])
  expect(errorsOf(corrected)).toEqual([])
})

// hint: For example, write `rule: { maxSize: 0.25 }`.
test('the rule in the hint is valid', () => {
  const policies = (rule: string) =>
    parsePolicies([
      {
        path: 'p.yaml',
        text: `version: 1\npolicies:\n  - { name: small, level: deny, reason: cost, rule: ${rule} }\n`,
      },
    ]).diagnostics
  expect(policies('{}').map(({ hint }) => hint)).toEqual(['For example, write `rule: { maxSize: 0.25 }`.'])
  expect(policies('{ maxSize: 0.25 }')).toEqual([])
})
