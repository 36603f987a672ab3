/** The packages installed with the program: few, each with a reason, and without install scripts. */
import { readFileSync } from 'node:fs'
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

/** The path where Node resolves `name` for the package at `from`. */
const find = (name: string, from: string): string | undefined => {
  const nested = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (packages[nested] !== undefined) return nested
  if (from === '') return undefined
  const above = from.slice(0, from.lastIndexOf('node_modules/')).replace(/\/$/, '')
  return find(name, above)
}

const installed = (): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (names: readonly string[], from: string): void => {
    for (const name of names) {
      const path = find(name, from)
      if (path === undefined || found.has(path)) continue
      found.add(path)
      const { dependencies, optionalDependencies } = packages[path] ?? {}
      visit(Object.keys({ ...dependencies, ...optionalDependencies }), path)
    }
  }
  visit(runtime, '')
  return found
}

// promise: dependency-added
test('every dependency has a documented reason, and every reason belongs to a dependency', () => {
  const page = readFileSync('docs/maintainers/decisions.md', 'utf8')
  const [section = ''] = page.split('\n## Dependencies\n').at(-1)?.split('\n## ') ?? []
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)]
  const named = rows.map(([, name]) => name)
  expect(runtime.filter((name) => !named.includes(name))).toEqual([])
  // Bundled packages are part of the program, although they are development dependencies.
  const known = [...runtime, ...Object.keys(manifest.devDependencies ?? {})]
  expect(named.filter((name) => !known.includes(name ?? ''))).toEqual([])
  for (const [row, , reason = ''] of rows) expect(reason.length, row).toBeGreaterThan(5)
})

// promise: install-scripts
test('no package installed with the program runs a script during installation', () => {
  const all = [...installed()]
  expect(all.length).toBeGreaterThanOrEqual(runtime.length)
  expect(all.filter((path) => packages[path]?.hasInstallScript === true)).toEqual([])
})

test('all installed packages have permissive licences', () => {
  const permissive = /^\(?(MIT|ISC|BSD-[23]-Clause|Apache-2\.0|0BSD|BlueOak-1\.0\.0)\b/
  expect([...installed()].filter((path) => !permissive.test(packages[path]?.license ?? ''))).toEqual([])
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
