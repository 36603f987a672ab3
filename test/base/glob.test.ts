import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { globFilter, globMatcher, globMatches, globProblem } from '../../src/base/index.ts'
import { runs } from '../long-runs.ts'

describe('globMatches', () => {
  test.each([
    ['main', 'main', true],
    ['main', 'main2', false],
    ['main', 'Main', false],
    ['preview/*', 'preview/1', true],
    ['preview/*', 'preview/', true],
    ['preview/*', 'preview', false],
    ['preview/*', 'preview/a/b', false],
    ['preview/**', 'preview/a/b', true],
    ['**', 'any/thing/at/all', true],
    ['*', 'a/b', false],
    ['**/hotfix', 'team/a/hotfix', true],
    ['**/hotfix', 'hotfix', false],
    ['pr-?', 'pr-1', true],
    ['pr-?', 'pr-12', false],
    ['pr-?', 'pr-/', false],
    ['v[0-9]', 'v7', true],
    ['v[0-9]', 'vx', false],
    ['v[!0-9]', 'vx', true],
    ['v[!0-9]', 'v/', false],
    ['v[^0-9]', 'v7', false],
    ['[]]', ']', true],
    ['[!]]', 'a', true],
    ['[!]]', ']', false],
    ['[a-]', '-', true],
    ['{dev,staging}', 'staging', true],
    ['{dev,staging}', 'prod', false],
    ['{dev,staging}/{a,b}-*', 'staging/b-1', true],
    ['{a,{b,c}d}', 'cd', true],
    ['{a,}x', 'x', true],
    ['a}', 'a}', true],
    ['*-*-*', 'a-b-c', true],
    ['a.b', 'axb', false],
    ['🌳*', '🌳1', true],
    ['?', '🌳', true],
  ])('matches the pattern %s against %s: %s', (pattern, name, expected) => {
    expect(globMatches(pattern, name)).toBe(expected)
    expect(globMatcher(pattern)(name)).toBe(expected)
  })
})

describe('globProblem', () => {
  test.each([
    ['', /empty/],
    ['a[b', /\[/],
    ['a[]', /\[/],
    ['a[!]', /\[/],
    ['a{b,c', /\{/],
    ['[z-a]', /reversed/],
    ['{a,b}'.repeat(20), /100 alternatives/],
    [`{${','.repeat(200)}}`, /100 alternatives/],
  ])('rejects %s', (pattern, why) => {
    expect(globProblem(pattern)).toMatch(why)
    expect(globMatches(pattern, pattern)).toBe(false)
  })

  test('accepts valid patterns, including a lone `}` or `]`', () => {
    for (const pattern of ['main', 'a*b', '}', ']', '{a}', '**', 'a-b']) expect(globProblem(pattern)).toBeUndefined()
  })
})

const patterns = fc
  .array(fc.constantFrom('a', 'b', '/', '*', '**', '?', '[ab]', '[!a]', '{a,b/}', '.'), { maxLength: 8 })
  .map((parts) => parts.join(''))
const names = fc.array(fc.constantFrom('a', 'b', '/', '.'), { maxLength: 8 }).map((chars) => chars.join(''))

/** A regular expression that matches the same names as the pattern. */
const asExpression = (pattern: string): RegExp => {
  const source = pattern.replace(/\*\*|\*|\?|\[ab\]|\[!a\]|\{a,b\/\}|\./g, (part) => {
    const known: Record<string, string> = {
      '**': '.*',
      '*': '[^/]*',
      '?': '[^/]',
      '[ab]': '[ab]',
      '[!a]': '[^/a]',
      '{a,b/}': '(?:a|b/)',
      '.': '\\.',
    }
    return known[part] ?? part
  })
  return new RegExp(`^${source}$`)
}

test('a glob matches what the equivalent regular expression matches', () => {
  fc.assert(
    fc.property(patterns, names, (pattern, name) => {
      fc.pre(pattern !== '' && globProblem(pattern) === undefined)
      expect(globMatches(pattern, name)).toBe(asExpression(pattern).test(name))
    }),
    { numRuns: runs(3_000) },
  )
})

test('no pattern causes exponential backtracking', () => {
  // A backtracking matcher would practically never finish.
  expect(globMatches(`${'*a'.repeat(40)}b`, 'a'.repeat(500))).toBe(false)
})

test('no pattern or name throws an error', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.string({ maxLength: 40 }), (pattern, name) => {
      expect(typeof globMatches(pattern, name)).toBe('boolean')
      expect(['string', 'undefined']).toContain(typeof globProblem(pattern))
    }),
  )
})

test.each([
  ['every name without patterns', undefined, [], ['main', 'dev']],
  ['included names', ['d*'], [], ['dev']],
  ['names that are not excluded', undefined, ['d*'], ['main']],
  ['no excluded name, even if it is included', ['*'], ['main'], ['dev']],
])('globFilter matches %s', (_what, included, excluded, expected) => {
  expect(['main', 'dev'].filter(globFilter(included, excluded))).toEqual(expected)
})
