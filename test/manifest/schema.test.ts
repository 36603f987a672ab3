import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { manifestSchema, parseManifests } from '../../src/manifest/index.ts'
import { SIZE_TABLE } from '../../src/model/index.ts'
import { expectEnough, isLong, runs } from '../long-runs.ts'

// Optimising the code would take longer than running it.
const EDITORS = ['defaultSnippets', 'errorMessage', 'patternErrorMessage']
const AJV = { strict: true, keywords: EDITORS, code: { optimize: false } }
const validate = new Ajv2020(AJV).compile(manifestSchema())

const document = (rest: object): object => ({ version: 1, project: 'quiet-river-12345678', ...rest })
const primary = (attributes: object): object => document({ branches: { main: { primary: attributes } } })

test('an editor offers all sizes, and no map as a value, and explains patterns and a missing value', () => {
  const { $defs } = manifestSchema() as { $defs: Record<string, { examples?: unknown[]; defaultSnippets?: unknown[] }> }
  expect($defs.size?.examples).toEqual(SIZE_TABLE.steps.map(({ cu }) => cu))
  expect($defs.size?.defaultSnippets).toEqual([{ label: '{ min: 1, max: 8 }', body: { min: 1, max: 8 } }])
  expect($defs.scaleToZero).toMatchObject({
    examples: ['5m', '1h30m', 'never', 'default'],
    patternErrorMessage: expect.stringContaining('from 1m to 7d'),
  })
  const unexplained: unknown[] = []
  JSON.stringify(manifestSchema(), (_key, value) => {
    if (typeof value?.pattern === 'string' && value.patternErrorMessage === undefined) unexplained.push(value)
    return value
  })
  expect(unexplained).toEqual([])
  const text = JSON.stringify(manifestSchema())
  expect(text).not.toMatch(/"examples":\[[^\]]*[{[]/)
  expect(text).toContain('"errorMessage":"Write attributes such as `size: 1` on the lines below, or `absent`."')
})

describe('the published schema', () => {
  test.each<readonly [name: string, value: object]>([
    ['a document with only a project', document({})],
    ['a fixed size', primary({ size: 0.25 })],
    ['a range', primary({ size: { min: 8, max: 16 } })],
    ['a fixed size above 16 CU that never scales to zero', primary({ size: 56, scaleToZero: 'never' })],
    ['a fixed size above 16 CU without `scaleToZero`', primary({ size: 18 })],
    ['a range above 16 CU whose ends are equal', primary({ size: { min: 18, max: 18 }, scaleToZero: 'never' })],
    ['16 CU with scale to zero', primary({ size: 16, scaleToZero: '5m' })],
    ['an absent replica', document({ branches: { main: { replicas: { r: 'absent' } } } })],
    ['an absent primary', document({ branches: { main: { primary: 'absent' } } })],
    ['a rule', document({ rules: [{ match: 'preview/*', except: ['preview/x'], replicas: { r: { size: 1 } } }] })],
    [
      'settings that are strings, numbers and booleans',
      primary({ postgres: { settings: { a: 'x', b: 1, c: true }, preload: ['x'] } }),
    ],
  ])('accepts %s', (_name, value) => {
    expect(validate(value) ? [] : validate.errors).toEqual([])
  })

  test.each<readonly [name: string, value: object, at: string]>([
    ['a size between the steps', primary({ size: 3.5 }), '/branches/main/primary/size'],
    ['a size above the largest step', primary({ size: 58 }), '/branches/main/primary/size'],
    ['a range without a maximum', primary({ size: { min: 1 } }), '/branches/main/primary/size'],
    ['a range that is too wide', primary({ size: { min: 1, max: 10 } }), '/branches/main/primary/size/max'],
    ['a minimum above the maximum', primary({ size: { min: 4, max: 1 } }), '/branches/main/primary/size/max'],
    ['autoscaling above 16 CU', primary({ size: { min: 16, max: 18 } }), '/branches/main/primary/size/max'],
    [
      'a size above 16 CU with scale to zero',
      primary({ size: 18, scaleToZero: '5m' }),
      '/branches/main/primary/scaleToZero',
    ],
    [
      'an equal-ended range above 16 CU with scale to zero',
      primary({ size: { min: 18, max: 18 }, scaleToZero: 'default' }),
      '/branches/main/primary/scaleToZero',
    ],
    ['a number as a duration', primary({ scaleToZero: 300 }), '/branches/main/primary/scaleToZero'],
    ['a duration without a unit', primary({ scaleToZero: '300' }), '/branches/main/primary/scaleToZero'],
    ['an empty duration', primary({ scaleToZero: '' }), '/branches/main/primary/scaleToZero'],
    ['null as a size', primary({ size: null }), '/branches/main/primary/size'],
    ['null as a branch', document({ branches: { main: null } }), '/branches/main'],
    ['an unknown key in the document', document({ branch: {} }), ''],
    ['an unknown key in a branch', document({ branches: { main: { replica: {} } } }), '/branches/main'],
    ['an unknown key in a compute', primary({ scaletozero: '5m' }), '/branches/main/primary'],
    ['a pin that is not a compute id', primary({ id: 'br-a' }), '/branches/main/primary/id'],
    ['a pin in a rule', document({ rules: [{ match: 'a', primary: { id: 'ep-a' } }] }), '/rules/0/primary'],
    ['a rule without `match`', document({ rules: [{}] }), '/rules/0'],
    ['an unsupported version', { version: 2, project: 'p' }, '/version'],
    ['a missing project', { version: 1 }, ''],
  ])('rejects %s', (_name, value, at) => {
    expect(validate(value)).toBe(false)
    expect(validate.errors?.map(({ instancePath }) => instancePath)).toContain(at)
  })
})

describe('the published schema and the program accept the same', () => {
  const accepted = (value: object): boolean =>
    parseManifests([{ path: 'a.yaml', text: JSON.stringify(value) }]).diagnostics.length === 0

  const cu = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...SIZE_TABLE.steps.map((step) => step.cu)) },
    { weight: 2, arbitrary: fc.constantFrom(0, -1, 0.75, 1.5, 17, 19, 57, 58, 100) },
    { weight: 1, arbitrary: fc.double({ min: -2, max: 70, noNaN: true }) },
  )
  /** Of pairs of steps up to 16 CU, 40% are valid ranges; of arbitrary pairs, less than 5%. */
  const small = fc.constantFrom(...SIZE_TABLE.steps.map((step) => step.cu).filter((step) => step <= 16))
  const range = fc.oneof(fc.tuple(cu, cu), fc.tuple(small, small))
  const size = fc.oneof(
    cu,
    cu.map((both) => ({ min: both, max: both })),
    fc.record({ min: cu, max: cu }, { noNullPrototype: true }),
  )
  const scaleToZero = fc.constantFrom(
    'default',
    'never',
    '1m',
    '5m',
    '1h30m',
    '7d',
    '',
    '300',
    '5 m',
    '5m1h',
    'off',
    300,
  )

  test('size ranges', () => {
    const seen = { yes: 0, no: 0 }
    fc.assert(
      fc.property(range, ([min, max]) => {
        const value = primary({ size: { min, max } })
        const fits = validate(value)
        seen[fits ? 'yes' : 'no'] += 1
        expect(accepted(value)).toBe(fits)
      }),
      { numRuns: runs(500) },
    )
    // Both valid and invalid ranges must have occurred.
    expectEnough(Math.min(seen.yes, seen.no), 0)
  })

  /** The service's rule as arithmetic, independent of both the schema and the program. */
  const isRange = ({ min, max }: { readonly min: number; readonly max: number }): boolean =>
    min === max || (max > min && max <= 16 && max - min <= 8)

  test("pairs of size steps, as the service's rule does", () => {
    const steps = SIZE_TABLE.steps.map((step) => step.cu)
    const ranges = steps.flatMap((min) => steps.map((max) => ({ min, max })))
    expect(ranges.filter((size) => validate(primary({ size })) !== isRange(size))).toEqual([])
    // Parsing thousands of manifests takes a second: by default, only pairs at which the verdict changes, and some others.
    const isLast = (at: number): boolean => [at - 1, at + 1].some((other) => verdicts[other] !== verdicts[at])
    const verdicts = ranges.map(isRange)
    const read = ranges.filter((_, at) => isLong || isLast(at) || at % 20 === 0)
    expect(read.filter((size) => accepted(primary({ size })) !== isRange(size))).toEqual([])
  })

  test("sizes with scale to zero, as the service's rule does", () => {
    const sizes = SIZE_TABLE.steps.flatMap(({ cu }) => [cu, { min: cu, max: cu }])
    const [large = 0] = SIZE_TABLE.steps.map(({ cu }) => cu).filter((cu) => cu > 16)
    const cuOf = (size: (typeof sizes)[number]): number => (typeof size === 'number' ? size : size.max)
    for (const judge of [accepted, validate]) {
      for (const scaleToZero of ['5m', 'default']) {
        const wrong = sizes.filter((size) => judge(primary({ size, scaleToZero })) !== cuOf(size) < large)
        expect(wrong).toEqual([])
      }
      expect(sizes.filter((size) => !judge(primary({ size, scaleToZero: 'never' })))).toEqual([])
    }
  })

  test('combinations of size and scale to zero', () => {
    fc.assert(
      fc.property(size, scaleToZero, (size, scaleToZero) => {
        const value = primary({ size, scaleToZero })
        expect(accepted(value)).toBe(validate(value))
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('editor support', () => {
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
  const schema: unknown = manifestSchema()
  const definitions = isObject(schema) && isObject(schema.$defs) ? schema.$defs : {}

  /** Every property of every map, merged with the target of its `$ref`. A property `true` is defined elsewhere. */
  const propertiesIn = (value: unknown, path = ''): (readonly [string, Record<string, unknown>])[] => {
    if (!isObject(value)) return []
    const own =
      isObject(value.properties) && value.additionalProperties === false
        ? Object.entries(value.properties).flatMap(([name, property]) => {
            if (!isObject(property)) return []
            const target = typeof property.$ref === 'string' ? definitions[property.$ref.replace('#/$defs/', '')] : {}
            return [[`${path}/${name}`, { ...(isObject(target) ? target : {}), ...property }] as const]
          })
        : []
    return [...own, ...Object.entries(value).flatMap(([key, inner]) => propertiesIn(inner, `${path}/${key}`))]
  }
  const properties = propertiesIn(schema)
  const examplesOf = ({ examples = [], defaultSnippets = [] }: Record<string, unknown>): readonly unknown[] => [
    ...(examples as readonly unknown[]),
    ...(defaultSnippets as readonly { readonly body: unknown }[]).map(({ body }) => body),
  ]

  test('every property in the schema has a description and examples', () => {
    expect(properties.length).toBeGreaterThan(30)
    const bare = properties.filter(
      ([, property]) =>
        typeof property.description !== 'string' || property.description === '' || examplesOf(property).length === 0,
    )
    expect(bare.map(([path]) => path)).toEqual([])
  })

  test('every example is valid for its property', () => {
    const ajv = new Ajv2020({ ...AJV, inlineRefs: false }).addSchema({ $id: 'definitions', $defs: definitions })
    const wrong = properties.flatMap(([path, property]) => {
      const fits = ajv.compile(JSON.parse(JSON.stringify(property).replaceAll('"#/', '"definitions#/')))
      return examplesOf(property)
        .filter((example) => !fits(example))
        .map((example) => [path, example])
    })
    expect(wrong).toEqual([])
  })
})
