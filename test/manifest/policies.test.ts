import { describe, expect, test } from 'vitest'
import { parsePolicies } from '../../src/manifest/index.ts'

const read = (text: string) => parsePolicies([{ path: 'espalier.policy.yaml', text }])
const problems = (text: string) =>
  read(text).diagnostics.map(({ code, message, source }) => `${source?.line}:${source?.column} ${code} ${message}`)
const policy = (lines: string) => `version: 1
policies:
  - name: preview-size
    level: deny
    reason: Previews are paid for by the platform team.
${lines}`

test('a policy is read with its name, level, reason, selectors and rule', () => {
  const text = policy(`    branches: [preview/**]
    except: [preview/load-*]
    rule: { maxSize: 0.25 }
  - { name: sleep, level: warn, reason: Costs., computes: primary, rule: { maxScaleToZero: 10m } }
`)
  expect(read(text).diagnostics).toEqual([])
  expect(read(text).policies).toEqual([
    {
      name: 'preview-size',
      level: 'deny',
      reason: 'Previews are paid for by the platform team.',
      branches: ['preview/**'],
      except: ['preview/load-*'],
      computes: 'any',
      rule: { kind: 'maxSize', limit: 0.25 },
      source: { file: 'espalier.policy.yaml', line: 3, column: 11, length: 12 },
    },
    {
      name: 'sleep',
      level: 'warn',
      reason: 'Costs.',
      except: [],
      computes: 'primary',
      rule: { kind: 'maxScaleToZero', limit: 600 },
      source: { file: 'espalier.policy.yaml', line: 9, column: 13, length: 5 },
    },
  ])
})

test('a policy file can be JSON', () => {
  const text = JSON.stringify({
    version: 1,
    policies: [{ name: 'a', level: 'warn', reason: 'r', rule: { prune: 'forbidden' } }],
  })
  expect(read(text).policies).toMatchObject([{ rule: { kind: 'prune', limit: 0 } }])
})

describe('mistakes in a policy file', () => {
  test.each([
    [policy('    rule: { maxSize: big }\n'), '6:22 E_VALUE `maxSize` must be a number, not a string.'],
    [
      policy('    rule: { maxSize: 1, minSize: 2 }\n'),
      '6:11 E_POLICY_RULE A policy must have exactly one rule, but this one has 2.',
    ],
    [policy('    rule: {}\n'), '6:11 E_POLICY_RULE A policy must have exactly one rule, but this one has none.'],
    [
      policy('    rule: { scaleToZero: never }\n'),
      '6:26 E_VALUE `scaleToZero` must be `required` or `forbidden`, not `never`.',
    ],
    [
      policy('    rule: { maxScaleToZero: 10 minutes }\n'),
      '6:29 E_DURATION `maxScaleToZero` must be a duration such as `90s`, `5m` or `1h30m`.',
    ],
    [
      policy('    branches: ["a["]\n    rule: { maxSize: 1 }\n'),
      '6:16 E_GLOB This is not a valid glob: a `[` is not closed.',
    ],
    [
      policy('    branches: [main]\n    rule: { prune: forbidden }\n'),
      '6:15 E_POLICY_RULE `prune` applies to whole projects, so the policy cannot have `branches`.',
    ],
    [
      policy('    except: [main]\n    rule: { maxProjectCu: 4 }\n'),
      '6:13 E_POLICY_RULE `maxProjectCu` applies to whole projects, so the policy cannot have `except`.',
    ],
    [
      policy('    except: [main]\n    rule: { maxCuHours: 4 }\n'),
      '6:13 E_POLICY_RULE `maxCuHours` applies to whole projects, so the policy cannot have `except`.',
    ],
    [
      policy('    computes: replica\n    rule: { maxReplicas: 4 }\n'),
      '6:15 E_POLICY_RULE `maxReplicas` applies to whole branches, so the policy cannot have `computes`.',
    ],
    [
      policy('    rule: { maxSize: 1 }\n  - { name: preview-size, level: warn, reason: r, rule: { minSize: 1 } }\n'),
      '7:13 E_DUPLICATE The policy `preview-size` is already defined at espalier.policy.yaml:3:11.',
    ],
    [
      policy('    rule: { maxSize: 1 }\n  - { name: b, level: warn, reason: r, rule: { minSize: 2 } }\n'),
      '7:13 E_POLICY_RULE `b` requires at least 2 CU, but `preview-size` allows at most 1 CU for the same computes.',
    ],
    ['version: 2\npolicies: []\n', '1:10 E_VALUE Only version 1 of the format is supported.'],
    ['', '1:1 E_EMPTY A policy file must have exactly one document, but this one has none.'],
    [
      'version: 1\npolicies: []\n---\nversion: 1\n',
      '1:1 E_EMPTY A policy file must have exactly one document, but this one has several.',
    ],
  ])('a mistake is reported at its position: %j', (text, problem) => {
    expect(problems(text)).toEqual([problem])
  })

  test('invalid YAML is reported at its position', () => {
    expect(problems('version: [1\n')[0]).toMatch(/^\d+:\d+ E_YAML /)
  })
})
