/** The packages in the program and installed with it: few, each with a reason, and without install scripts. */
import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { expect, test } from 'vitest'

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const json = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
const manifest = json<Locked>('package.json')
const { packages } = json<{ readonly packages: Readonly<Record<string, Locked>> }>('package-lock.json')
const runtime = Object.keys(manifest.dependencies ?? {})
const IMPORT = /\b(?:from |import\()'((?:@[\w-]+\/)?[a-z][\w-]*)(?:\/[^']*)?'/g
/** The packages that the program imports. All but those in `dependencies` are bundled. */
const imported = new Set(
  globSync('src/**/*.{ts,js}').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, name = '']) => name),
  ),
)

/** The path where Node resolves `name` for the package at `from`. */
const find = (name: string, from: string): string | undefined => {
  const nested = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (packages[nested] !== undefined) return nested
  if (from === '') return undefined
  const above = from.slice(0, from.lastIndexOf('node_modules/')).replace(/\/$/, '')
  return find(name, above)
}

/** The paths of these packages and of all that they depend on. */
const closureOf = (packageNames: Iterable<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (names: Iterable<string>, from: string): void => {
    for (const name of names) {
      const path = find(name, from)
      if (path === undefined || found.has(path)) continue
      found.add(path)
      const { dependencies, optionalDependencies } = packages[path] ?? {}
      visit(Object.keys({ ...dependencies, ...optionalDependencies }), path)
    }
  }
  visit(packageNames, '')
  return found
}

// promise: dependency-added
test('every package that the program imports has a documented reason, and every reason belongs to one', () => {
  const page = readFileSync('docs/maintainers/decisions.md', 'utf8')
  const [section = ''] = page.split('\n## Dependencies\n').at(-1)?.split('\n## ') ?? []
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)]
  expect(rows.map(([, name]) => name).sort()).toEqual([...new Set([...runtime, ...imported])].sort())
  for (const [row, , reason = ''] of rows) expect(reason.length, row).toBeGreaterThan(5)
})

// promise: install-scripts
test('no package installed with the program runs a script during installation', () => {
  const all = [...closureOf(runtime)]
  expect(all.length).toBeGreaterThanOrEqual(runtime.length)
  expect(all.filter((path) => packages[path]?.hasInstallScript === true)).toEqual([])
})

test('all installed and bundled packages have permissive licences', () => {
  const permissive = /^\(?(MIT|ISC|BSD-[23]-Clause|Apache-2\.0|0BSD|BlueOak-1\.0\.0)\b/
  const all = [...closureOf([...runtime, ...imported])]
  expect(all.length).toBeGreaterThan(imported.size)
  expect(all.filter((path) => !permissive.test(packages[path]?.license ?? ''))).toEqual([])
})

// promise: dependency-replaced
test('the lock file contains a checksum for every package and no URL', () => {
  const entries = Object.entries(packages).filter(([path]) => path.includes('node_modules/'))
  expect(entries.length).toBeGreaterThan(100)
  const own = entries.filter(([, { link }]) => link === true)
  expect(own.map(([, { resolved }]) => resolved)).toEqual(['postgres-binaries'])
  for (const [path, { link, resolved, integrity, version }] of entries) {
    if (link === true) continue
    expect(resolved, path).toBeUndefined()
    expect(integrity, path).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/)
    expect(version, path).toMatch(/^\d+\.\d+\.\d+/)
  }
})

test('no package comes from git, a URL or a folder', () => {
  const wanted = Object.entries(packages).flatMap(([path, { dependencies, devDependencies, optionalDependencies }]) =>
    Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }).map(
      ([name, range]) => [`${path} > ${name}`, range] as const,
    ),
  )
  expect(wanted.length).toBeGreaterThan(200)
  expect(wanted.filter(([, range]) => /:\/\/|^(git|github|file|link|http)|^[\w-]+\/[\w-]+/.test(range))).toEqual([])
})
