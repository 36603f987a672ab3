import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineCounter, stringify } from 'yaml'
import { type DocumentContent, type Plain, readContents, readDocuments } from '../../src/base/yaml/index.ts'
import { readNodes } from '../../src/base/yaml/nodes.ts'
import { Tree } from '../../src/manifest/read/tree.ts'
import { runs } from '../long-runs.ts'

interface Read {
  readonly isSimple: boolean
  readonly problems: readonly unknown[]
  /** Every value, with its position and that of its key. */
  readonly values?: readonly unknown[]
}

const valuesIn = (tree: Tree, value: Plain): readonly unknown[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, own]) => [
        [
          key,
          own,
          tree.source(value, key),
          tree.written(value, key),
          !Array.isArray(value) && tree.keySource(value, key),
        ],
        ...valuesIn(tree, own),
      ])

const compose = function* (text: string, lines: LineCounter): Iterable<DocumentContent> {
  for (const { document, problems } of readDocuments(text, lines)) {
    if (document === undefined || problems.length > 0) yield { problems, isSimple: false }
    else yield { ...readNodes(document, lines), isSimple: false }
  }
}

const read = (text: string, reader: typeof compose): readonly Read[] => {
  const lines = new LineCounter()
  return [...reader(text, lines)].map(({ content, problems, isSimple }): Read => {
    if (content === undefined) return { isSimple, problems }
    const tree = new Tree({ file: 'a.yaml', text, lines, content, diagnostics: [] })
    const whole = [tree.value, tree.source(undefined)]
    return { isSimple, problems, values: [...whole, ...valuesIn(tree, tree.value)] }
  })
}

const withoutKind = (all: readonly Read[]): unknown =>
  JSON.parse(JSON.stringify(all.map(({ isSimple: _, ...rest }) => rest)))

const word = fc.oneof(
  fc.constantFrom(
    'main',
    'size',
    '5m',
    'true',
    'Null',
    '~',
    '0.25',
    '1e3',
    '0x1f',
    '-7',
    '.inf',
    'a b',
    'br-1',
    'é',
    '*',
    '',
    "it's",
  ),
  fc.string({ maxLength: 6 }),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, word, fc.double({ noNaN: true }), fc.boolean(), tie('map'), tie('list')),
  map: fc.dictionary(word, tie('any'), { minKeys: 1, maxKeys: 4 }),
  list: fc.array(tie('any'), { minLength: 1, maxLength: 3 }),
}))
const edit = fc.record({
  at: fc.nat(),
  cut: fc.constantFrom(0, 0, 1, 2),
  put: fc.constantFrom(
    '',
    ' ',
    '  ',
    '\n',
    '\t',
    ':',
    ': ',
    '- ',
    '#',
    ' # c',
    '"',
    "'",
    '{',
    ']',
    '&a ',
    '*a',
    '!t ',
    '|',
    '%',
    '@',
    '...\n',
    '---\n',
    '?',
    ',',
    '\r\n',
  ),
})
const manifest = fc
  .tuple(fc.array(value.map, { minLength: 1, maxLength: 3 }), fc.array(edit, { maxLength: 3 }))
  .map(([documents, edits]) =>
    edits.reduce(
      (text, { at, cut, put }) => {
        const index = at % (text.length + 1)
        return `${text.slice(0, index)}${put}${text.slice(index + cut)}`
      },
      documents.map((document) => stringify(document)).join('---\n'),
    ),
  )

test('reading a document from its tokens gives the same result as composing it', () => {
  fc.assert(
    fc.property(manifest, (text) => {
      expect(withoutKind(read(text, readContents))).toEqual(withoutKind(read(text, compose)))
    }),
    { numRuns: runs(1_500) },
  )
})

test('a manifest in block style is read from its tokens', () => {
  const text = `# The fleet.
version: 1
project: quiet-river-12345678
branches: # by name
  main:
    primary:
      size: 0.25
      scaleToZero: 5m # soon
  'preview/one':
    replicas:
      "a reader":
        size: 2
rules:
- match: preview/*
  except:
    - preview/keep
---
version: 1
project: calm-lake-87654321
`
  expect(read(text, readContents).map(({ isSimple }) => isSimple)).toEqual([true, true])
})

test('an empty document costs as much as 50 tokens, because many of them take time as well', () => {
  const problems = (documents: number) =>
    [...readContents('---\n'.repeat(documents), new LineCounter(), { left: 1_000 })].flatMap((one) => one.problems)
  expect(problems(10)).toEqual([])
  expect(problems(20)).toMatchObject([{ kind: 'tokens', message: expect.stringContaining('4,000,000 YAML tokens') }])
})
