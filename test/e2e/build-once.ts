import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'

const SOURCES = ['src', 'scripts', 'package-lock.json', 'package.json', 'tsconfig.json', 'tsconfig.build.json']
/** The last file that the build writes. */
const LAST = 'dist/espalier.1'

/** Names on the command line select tests. Only those in these folders run the built program. */
const NAMED = process.argv.filter((word) => word.startsWith('test/'))
const isNeeded = NAMED.length === 0 || NAMED.some((name) => /^test\/(e2e|long)/.test(name))

/** The end-to-end tests run the built program, so it is built once before any of them, unless `npm ci` just did. */
export default function buildOnce(): void {
  if (isNeeded && !isFresh()) execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
}

const isFresh = (): boolean => {
  const built = changedAt(LAST)
  // A folder changes when a file in it is removed.
  const paths = SOURCES.flatMap((path) => [
    path,
    ...(path.includes('.')
      ? []
      : readdirSync(path, { recursive: true, encoding: 'utf8' }).map((file) => `${path}/${file}`)),
  ])
  return built !== undefined && paths.every((path) => (changedAt(path) ?? 0) < built)
}

const changedAt = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs
