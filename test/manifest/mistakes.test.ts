/** `espalier explain` for manifest codes: each example mistake causes its code, and its correction causes none. */
import { expect, test } from 'vitest'
import { DIAGNOSTIC_CODES, MISTAKES, parseManifests, wholeManifest } from '../../src/manifest/index.ts'

const codesOf = (text: string): readonly string[] => {
  const { diagnostics } = parseManifests([{ path: 'espalier.yaml', text: wholeManifest(text) }])
  return [...new Set(diagnostics.map(({ code }) => code))]
}

test.each(Object.entries(MISTAKES))(
  'the example mistake for %s produces this code, and its correction is valid',
  (code, { mistake, correction }) => {
    expect(codesOf(mistake)).toEqual([code])
    expect(codesOf(correction)).toEqual([])
  },
)

/** Codes for files, limits, and settings shared by several files. */
const WITHOUT =
  /^E_(?:NO_MANIFESTS|NOT_FOUND|OUTSIDE|TOO_\w+|ENCODING|ALIAS_LIMIT|EXTENDS|ONE_PROJECT|TWO_WAVES|POLICY_\w+)$/

test('every manifest code that one file can produce has an example', () => {
  expect(Object.keys(DIAGNOSTIC_CODES).filter((code) => !(code in MISTAKES) && !WITHOUT.test(code))).toEqual([])
})
