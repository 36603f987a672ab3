import { expect, test } from 'vitest'
import { parseManifests } from '../../src/manifest/index.ts'
import { digestOf } from '../../src/workflow/index.ts'

const HEAD = 'version: 1\nproject: quiet-river-12345678\n'

const digest = (files: Readonly<Record<string, string>>): string =>
  digestOf(parseManifests(Object.entries(files).map(([path, text]) => ({ path, text }))).texts)

test('the digest depends on all files, including shared ones, but not on their order', () => {
  const files = { 'a.yaml': `${HEAD}extends: s.yaml\n`, 's.yaml': 'defaults: {}\n' }
  expect(digest(files)).toBe(digest({ 's.yaml': files['s.yaml'], 'a.yaml': files['a.yaml'] }))
  expect(digest(files)).toMatch(/^[0-9a-f]{64}$/)
  expect(digest({ ...files, 's.yaml': 'defaults: { }\n' })).not.toBe(digest(files))
  expect(digest({ 'b.yaml': files['a.yaml'], 's.yaml': files['s.yaml'] })).not.toBe(digest(files))
})
