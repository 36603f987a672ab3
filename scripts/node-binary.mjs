import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * Installs the npm package `node` into a folder that git ignores.
 *
 * @returns the path of a Node binary of this major version.
 * @throws if it cannot be installed.
 */
export function nodeBinary(major) {
  const home = resolve('node_modules', '.nodes', String(major))
  const node = join(home, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (existsSync(node)) return node
  mkdirSync(home, { recursive: true })
  // The package's install script copies the binary for this platform.
  const install = ['install', '--prefix', home, '--no-save', '--no-package-lock', `node@${major}`]
  execFileSync('npm', install, { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
  return node
}
