/** Manifests with a mistake, edited as the hint says. */
import { expect, test } from 'vitest'
import { parseManifests, parsePolicies } from '../../src/manifest/index.ts'

const diagnosticsOf = (body: string) =>
  parseManifests([{ path: 'm.yaml', text: `version: 1\nproject: shop\n${body}\n` }]).diagnostics
const primary = (attributes: string): string => `branches: { main: { primary: { ${attributes} } } }`
const WINDOW = 'days: [sun], timezone: UTC'

// hint: Write `…: absent` if the compute must not exist.
// hint: Write `scaleToZero: never`, or a size of at most … CU.
// hint: Write `max: …`, or the fixed size `size: …`.
// hint: Add `…`.` : `Add `…`, for example `…: …`.
// hint: For example, write `…: …`.
// hint: For the whole day, write `from: "00:00"` and `to: "24:00"`. For no window, write `restartWindow: always`.
// hint: For example, write `currency: USD`.
test.each([
  ['primary: absent', 'branches: { main: { primary: none } }', 'branches: { main: { primary: absent } }'],
  ['scaleToZero: never', primary('size: 24, scaleToZero: 5m'), primary('size: 24, scaleToZero: never')],
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
