import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments, parseDocument, stringify } from 'yaml'
import { formatManifest } from '../../src/manifest/index.ts'
import { parseDuration } from '../../src/model/index.ts'
import { runs } from '../long-runs.ts'

const HEAD = 'version: 1\nproject: quiet-river-12345678\n'

describe('formatManifest', () => {
  it('leaves a file in canonical order unchanged, including comments, blank lines, quotes and spacing', () => {
    const text = `# yaml-language-server: $schema=x
# The web shop.

version:   1
project: "quiet-river-12345678"   # not the name


branches:
      main:    # everything hangs on it

        primary: {size: 2,   scaleToZero: 'never'}
# out here
      zeta: { primary: { size: 1 } }
      alpha: { primary: { size: 1 } }`
    expect(formatManifest(text)).toBe(text)
  })

  it.each([
    ['a duration', '300s', '5m'],
    ['a duration with two units', '60m30s', '1h30s'],
    ['a quoted duration', "'3600s'", "'1h'"],
    ['the word `never`', 'never', 'never'],
    ['an invalid duration', 'soon', 'soon'],
  ])('writes %s in canonical form', (_what, before, after) => {
    const manifest = (time: string) => `${HEAD}defaults:\n  scaleToZero: ${time} # so long\n`
    expect(formatManifest(manifest(before))).toBe(manifest(after))
  })

  it.each([
    ['1.0', '1'],
    ['0.50', '0.5'],
    ['{ max: 4, min: 1.0 }', '{ min: 1, max: 4 }'],
    ['{ min: 2, max: 2.0 }', '2'],
    ['{ min: 2, max: 2 } # fixed', '2 # fixed'],
  ])('writes the size %s in canonical form', (before, after) => {
    const manifest = (size: string) => `${HEAD}defaults:\n  size: ${size}\n`
    expect(formatManifest(manifest(before))).toBe(manifest(after))
  })

  it('collapses a multi-line range with equal limits into one number', () => {
    const manifest = (size: string) => `${HEAD}defaults:\n  size:${size}\n  disabled: false\n`
    expect(formatManifest(manifest('\n    min: 2\n    max: 2'))).toBe(manifest(' 2'))
  })

  it('moves an entry together with the comments above it and inside it', () => {
    expect(
      formatManifest(`# The fleet's file.
project: quiet-river-12345678 # shop
version: 1

rules:
  - primary: { size: 1 }
    # Everybody's.
    match: preview/*

# Alone.

# The production branch.
branches:
  main:
    replicas:
      reporting:
        # Enough for the month's end.
        size: 2
          # (and no more)
        id: ep-cool-dawn-a1b2c3
    primary: { scaleToZero: 1m, size: 1 }
`),
    ).toBe(
      `# The fleet's file.
version: 1
project: quiet-river-12345678 # shop

# Alone.

# The production branch.
branches:
  main:
    primary: { size: 1, scaleToZero: 1m }
    replicas:
      reporting:
        id: ep-cool-dawn-a1b2c3
        # Enough for the month's end.
        size: 2
          # (and no more)

rules:
  - # Everybody's.
    match: preview/*
    primary: { size: 1 }
`,
    )
  })

  it('keeps entries under their heading comments and commented-out lines in place', () => {
    expect(
      formatManifest(`version: 1
project: p

# --- Rules ---

rules: []

# --- Branches ---

branches:
  a:
    replicas:
      r: { size: 1 }

      # s: { size: 2 }

    primary:
      scaleToZero: 5m

      # size: 4
    # protect: true

  # b: {}

prune: true
# the end
`),
    ).toBe(`version: 1
project: p

prune: true

# --- Branches ---

branches:
  a:
    primary:
      scaleToZero: 5m

      # size: 4

    replicas:
      r: { size: 1 }

      # s: { size: 2 }
    # protect: true

  # b: {}

# --- Rules ---

rules: []
# the end
`)
  })

  it.each([
    ['a duration that spans several lines', 'scaleToZero: >-\n    300s\n  disabled: true\n'],
    ['a block scalar at the end of the file', 'scaleToZero: |-\n    300s\n'],
    ['a key with a question mark', '? size\n  : { min: 1, max: 1 }\n'],
    ['a range that contains a comment', 'size: # once more\n    min: 1\n    max: 1\n'],
  ])('does not rewrite %s', (_what, text) => {
    const manifest = `${HEAD}defaults:\n  ${text}`
    expect(formatManifest(manifest)).toBe(manifest)
  })

  it('keeps CRLF line endings', () => {
    expect(formatManifest('project: a\r\nversion: 1\r\n')).toBe('version: 1\r\nproject: a\r\n')
  })

  it('formats every document in a file and shared files', () => {
    expect(formatManifest(`project: a\nversion: 1\n---\nproject: b\nversion: 1\n`)).toBe(
      `version: 1\nproject: a\n---\nversion: 1\nproject: b\n`,
    )
    expect(formatManifest('profiles: {}\ndefaults: {}\n')).toBe('defaults: {}\nprofiles: {}\n')
  })

  it.each([
    ['YAML that is not a manifest', 'services: {}\nversion: "3"\n'],
    ['invalid YAML', 'project: a\nversion: [1\n'],
    ['an order that an alias depends on', `project: &p a\nversion: 1\nparkOn: *p\n`],
    ['a flow map that contains comments', `${HEAD}defaults: {\n  scaleToZero: 1m, # short\n  size: 1 }\n`],
    ['an empty file', ''],
  ])('does not change %s', (_what, text) => {
    expect(formatManifest(text)).toBe(text)
  })

  /** A placeholder for a value that spans several lines. */
  const BLOCK = '3600s BLOCK'
  const compute = fc.record(
    {
      scaleToZero: fc.constantFrom('300s', '5m', '90s', 'never', '01h', BLOCK),
      size: fc.constantFrom<unknown>(1, { max: 2, min: 2 }, { max: 8, min: 1 }),
      postgres: fc.record({ preload: fc.constant(['a']), settings: fc.constant({ b: '1\n2\n', a: 'x' }) }),
      id: fc.constant('ep-a'),
      unknown: fc.constant(null),
    },
    { requiredKeys: [] },
  )
  const branch = fc.record(
    { replicas: fc.dictionary(fc.constantFrom('z', 'a', '0'), compute), primary: compute, protect: fc.boolean() },
    { requiredKeys: [] },
  )
  const manifest = fc.record(
    {
      rules: fc.array(fc.record({ primary: compute, match: fc.constant('x/*') }), { maxLength: 2 }),
      branches: fc.dictionary(fc.constantFrom('main', 'dev', 'a/b'), branch),
      prune: fc.boolean(),
      defaults: compute,
      project: fc.constant('p'),
      version: fc.constant(1),
    },
    { requiredKeys: ['project', 'version'] },
  )
  /** In random order, in block or flow style, with comments and blank lines anywhere between lines. */
  const texts = fc
    .tuple(
      manifest,
      fc.array(fc.constantFrom('', '', '', '# note', '', '\n', '\n        # note', '# note\n')),
      fc.boolean(),
      fc.infiniteStream(fc.nat(3)),
    )
    .map(([value, notes, isFlow, order]) => {
      const document = parseDocument(stringify(shuffled(value, order), { collectionStyle: isFlow ? 'flow' : 'any' }))
      // Alternates between a block scalar below the key and an explicit key (`? key`).
      let turn = 0
      const written = document
        .toString()
        .replace(/^( *)scaleToZero: 3600s BLOCK$/gm, (_all, indent: string) =>
          turn++ % 2 === 0 ? `${indent}scaleToZero: >-\n${indent}  3600s` : `${indent}? scaleToZero\n${indent}: 3600s`,
        )
      const lines = written.replaceAll(' BLOCK', '').split('\n')
      return lines
        .flatMap((line, index) => {
          const note = notes[index % Math.max(1, notes.length)] ?? ''
          const inside = /^\s*(1|2|3600s)?$|^\s*[?:]/.test(line) || isFlow
          return note === '' || inside ? [line] : [`${/^ */.exec(line)?.[0]}${note}`, line]
        })
        .join('\n')
    })

  it('leaves unknown keys unchanged, even if JavaScript objects have members of that name', () => {
    const text = 'version: 1\nproject: p\nconstructor: { a: { b: c } }\nbranches: { main: { toString: { a: 1 } } }\n'
    expect(formatManifest(text)).toBe(
      'version: 1\nproject: p\nbranches: { main: { toString: { a: 1 } } }\nconstructor: { a: { b: c } }\n',
    )
  })

  it('keeps the meaning and all comments and changes nothing on a second run', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const formatted = formatManifest(text)
        expect(meaning(formatted)).toEqual(meaning(text))
        expect(formatted.match(/# note/g)?.length).toBe(text.match(/# note/g)?.length)
        expect(formatManifest(formatted)).toBe(formatted)
      }),
      { numRuns: runs(500) },
    )
  })
})

const shuffled = (value: unknown, order: Iterator<number>): unknown => {
  if (Array.isArray(value)) return value.map((one) => shuffled(one, order))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, one]) => [order.next().value as number, key, shuffled(one, order)] as const)
      .sort(([a], [b]) => a - b)
      .map(([, key, one]) => [key, one]),
  )
}

/** The meaning of the documents, independent of their order and spelling. */
const meaning = (text: string): unknown =>
  parseAllDocuments(text).map((document) =>
    JSON.parse(JSON.stringify((document as { toJS(): unknown }).toJS()), (key, value) => {
      if (key === 'scaleToZero') return parseDuration(value) ?? value
      if (key === 'size' && typeof value === 'object') return value.min === value.max ? value.min : value
      return value
    }),
  )
