// Collects the licences of the packages that a bundle contains.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** @param inputs the paths of the modules in the bundle. */
export async function licences(inputs) {
  const folders = new Set()
  for (const path of inputs) {
    // Windows uses backslashes.
    const input = path.replaceAll('\\', '/')
    const at = input.lastIndexOf('node_modules/')
    if (at < 0) continue
    const [first, second] = input.slice(at + 'node_modules/'.length).split('/')
    folders.add(join(input.slice(0, at), 'node_modules', first.startsWith('@') ? join(first, second) : first))
  }
  const texts = []
  for (const folder of [...folders].sort()) {
    const { name, version: of, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const file = (await readdir(folder)).find((candidate) => /^licen[cs]e/i.test(candidate))
    const text = file === undefined ? `License: ${license}` : (await readFile(join(folder, file), 'utf8')).trim()
    texts.push(`${name} ${of}\n\n${text}\n`)
  }
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}
