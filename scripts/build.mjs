// Builds the program into dist/: with the libraries that it uses, in chunks, so that a command loads only what it needs.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { licences } from './licences.mjs'

const { version } = JSON.parse(await readFile('package.json', 'utf8'))
await rm('dist', { recursive: true, force: true })
const bundle = await rolldown({
  input: { main: 'src/cli/main.ts' },
  platform: 'node',
  // Of the sandbox's real computes only; they look for optional packages of their own.
  external: /^(pg|node-forge)($|\/)/,
  transform: { target: 'node20.19', define: { __ESPALIER_VERSION__: JSON.stringify(version) } },
  // A room's door must not bring the whole room.
  treeshake: { moduleSideEffects: (id) => !/[\\/]src[\\/][^?]*\.[tj]s$/.test(id) || id.includes('node_modules') },
})
const { output } = await bundle.write({
  dir: 'dist',
  format: 'esm',
  chunkFileNames: 'chunks/[name]-[hash].js',
  sourcemap: false,
})
await bundle.close()
const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []))
await writeFile('dist/LICENSES.txt', await licences(modules))
await keepHelp()

/** Laid out once, here: what it takes to do so is most of what `--help` would take (src/cli/kept-help.ts). */
async function keepHelp() {
  const widths = { piped: 100, wide: 110 }
  const texts = {}
  for (const [name, columns] of Object.entries(widths)) {
    const terminal = name === 'piped' ? '' : `Object.assign(process.stdout, { isTTY: true, columns: ${columns} });`
    const script = `${terminal} process.argv.splice(1, 9, 'espalier', '--help'); await import('./dist/main.js')`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: process.env.PATH },
    })
    texts[columns] = stdout
  }
  await mkdir('dist/help')
  for (const [columns, text] of Object.entries(texts)) await writeFile(`dist/help/${columns}.txt`, text)
}
