import { expect, test } from 'vitest'
import { parsePolicies } from '../../src/manifest/index.ts'
import { policyChanges } from '../../src/policy/index.ts'

const read = (...policies: readonly string[]) =>
  parsePolicies([{ path: 'p.yaml', text: `version: 1\npolicies:\n${policies.map((one) => `  - ${one}\n`).join('')}` }])
    .policies
const SMALL = '{ name: small, level: deny, reason: r, branches: [preview/**], rule: { maxSize: 0.25 } }'
const AWAKE = '{ name: awake, level: warn, reason: r, rule: { scaleToZero: forbidden } }'

test.each([
  ['nothing', [SMALL], [SMALL], []],
  ['another reason', [SMALL], [SMALL.replace('reason: r', 'reason: s')], []],
  ['a new one', [], [SMALL], ['Adds policy `small`: maxSize 0.25']],
  ['one that goes', [SMALL, AWAKE], [SMALL], ['Removes policy `awake`: scaleToZero forbidden']],
  ['a limit', [SMALL], [SMALL.replace('0.25', '2')], ['Changes policy `small`: maxSize 0.25 → maxSize 2']],
  [
    'level and branches',
    [SMALL],
    [SMALL.replace('deny', 'warn').replace('branches: [preview/**], ', '')],
    ['Changes policy `small`: level deny → warn, branches preview/** → all'],
  ],
])('%s', (_, before, after, expected) => {
  expect(policyChanges(read(...before), read(...after))).toEqual(expected)
})
