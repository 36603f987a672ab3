import { expect, test } from 'vitest'
import { parsePolicies } from '../../src/manifest/index.ts'
import { policyChanges } from '../../src/policy/index.ts'

const read = (...policies: readonly string[]) =>
  parsePolicies([{ path: 'p.yaml', text: `version: 1\npolicies:\n${policies.map((one) => `  - ${one}\n`).join('')}` }])
    .policies
const SMALL = '{ name: small, level: deny, reason: r, branches: [preview/**], rule: { maxSize: 0.25 } }'
const AWAKE = '{ name: awake, level: warn, reason: r, rule: { scaleToZero: forbidden } }'

test.each([
  ['equal policies as no change', [SMALL], [SMALL], []],
  ['a changed reason as no change', [SMALL], [SMALL.replace('reason: r', 'reason: s')], []],
  ['an added policy', [], [SMALL], ['Adds policy `small`: maxSize 0.25']],
  ['a removed policy', [SMALL, AWAKE], [SMALL], ['Removes policy `awake`: scaleToZero forbidden']],
  ['a changed limit', [SMALL], [SMALL.replace('0.25', '2')], ['Changes policy `small`: maxSize 0.25 → maxSize 2']],
  [
    'a changed level and selector',
    [SMALL],
    [SMALL.replace('deny', 'warn').replace('branches: [preview/**], ', '')],
    ['Changes policy `small`: level deny → warn, branches preview/** → all'],
  ],
])('policyChanges describes %s', (_, before, after, expected) => {
  expect(policyChanges(read(...before), read(...after))).toEqual(expected)
})
