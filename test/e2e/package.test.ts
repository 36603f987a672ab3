/** The files that `npm publish` would publish. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

const MAIN = 'dist/main.js'
let files: readonly string[] = []
let bytes = 0

beforeAll(() => {
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [packed] = JSON.parse(printed)
  files = packed.files.map(({ path }: { readonly path: string }) => path)
  bytes = packed.size
})

test('the package contains the program, its schemas, its examples and some documents', () => {
  const rules = [
    /^dist\/.+\.js$/,
    // Types of the public modules.
    /^dist\/types\/.+\.d\.ts$/,
    // The rendered help, the man page, and the licences of bundled packages.
    /^dist\/help\/\d+\.txt$/,
    /^dist\/espalier\.1$/,
    /^dist\/LICENSES\.txt$/,
    /^schemas\/.+\.(json|yaml)$/,
    // For coding assistants.
    /^docs\/skill\/SKILL\.md$/,
    // The README uses them.
    /^examples\//,
    /^(README|CHANGELOG)\.md$/,
    /^LICENSE$/,
    /^package\.json$/,
  ]
  expect(files.filter((file) => !rules.some((rule) => rule.test(file)))).toEqual([])
  expect(files).toEqual(
    expect.arrayContaining([
      MAIN,
      'LICENSE',
      'README.md',
      'schemas/manifest.schema.json',
      'examples/quickstart/seed.yaml',
    ]),
  )
  const program = files.filter((file) => !file.startsWith('examples/'))
  expect(program.join('\n')).not.toMatch(/test|fixture|\.map$|(?<!\.d)\.ts$|\.env|\.npmrc/m)
  // The Action's bundle and the tests would exceed this limit many times over.
  expect(bytes).toBeLessThan(3 * 1024 * 1024)
})

test('the package contains every file that the program imports, and no file refers to a source map', () => {
  const missing: string[] = []
  for (const file of files.filter((name) => name.endsWith('.js'))) {
    const text = readFileSync(file, 'utf8')
    expect(text, file).not.toContain('sourceMappingURL')
    for (const [, target = ''] of text.matchAll(/(?:from|import\()\s*"(\.\.?\/[^"]+\.js)"/g)) {
      const path = posix.join(dirname(file), target)
      if (!files.includes(path)) missing.push(path)
    }
  }
  expect(missing).toEqual([])
})

test('no packaged file names a path of the build machine', () => {
  const home = process.env.HOME ?? ''
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    expect(text, file).not.toContain(process.cwd())
    if (home.length > 6) expect(text, file).not.toContain(home)
  }
})

test('package.json is ready for publishing with provenance', () => {
  const { name, version, license, bin, man, engines, publishConfig, repository, scripts } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  expect({ name, license, engines }).toEqual({ name: 'espalier', license: 'Apache-2.0', engines: { node: '>=20.19' } })
  expect(version).toMatch(/^\d+\.\d+\.\d+/)
  expect(readFileSync(man[0], 'utf8')).toContain(`"espalier ${version}"`)
  expect(publishConfig).toEqual({ access: 'public', provenance: true })
  // Provenance is checked against this address.
  expect(repository).toEqual({ type: 'git', url: expect.stringMatching(/^git\+https:\/\/github\.com\/.+\.git$/) })
  expect(Object.keys(scripts).filter((script) => /^(pre|post)?(install|prepare)$/.test(script))).toEqual([])
  for (const file of Object.values(bin as Record<string, string>)) {
    expect(existsSync(join('.', file))).toBe(true)
    expect(readFileSync(file, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node')
  }
})
