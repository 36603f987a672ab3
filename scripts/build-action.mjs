// Builds the GitHub Action into one file, action/index.cjs, with the licences of what is in it. `--check` fails where
// what is committed is not what the source gives.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

const { version } = JSON.parse(await readFile('package.json', 'utf8'))
const { outputFiles, metafile } = await build({
  entryPoints: ['src/action/main.ts'],
  outfile: 'action/index.cjs',
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  define: { __ESPALIER_VERSION__: JSON.stringify(version), 'import.meta.url': 'ownUrl' },
  banner: { js: 'const ownUrl = require("node:url").pathToFileURL(__filename).href;' },
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
  plugins: [
    {
      // The Action's sandbox simulates its computes: no Postgres client, no certificate.
      name: 'no-postgres',
      setup: ({ onResolve, onLoad }) => {
        onResolve({ filter: /postgres-computes\.ts$/ }, () => ({ path: 'no-postgres', namespace: 'left-out' }))
        onResolve({ filter: /postgres\/binaries\.ts$/ }, () => ({ path: 'no-binaries', namespace: 'left-out' }))
        onLoad({ filter: /no-postgres/, namespace: 'left-out' }, () => ({
          contents: "export const postgresComputes = () => { throw new Error('there is no Postgres in the Action') }",
        }))
        onLoad({ filter: /no-binaries/, namespace: 'left-out' }, () => ({
          contents: "export const howToInstall = () => ''",
        }))
      },
    },
  ],
})

const files = {
  'action/index.cjs': outputFiles[0].text,
  'action/LICENSES.txt': await licences(Object.keys(metafile.inputs)),
}
const stale = []
for (const [path, text] of Object.entries(files)) {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue
  stale.push(path)
  if (process.argv.includes('--check')) continue
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run \`npm run build:action\` and commit what it writes.`)
  process.exitCode = 1
} else {
  console.log(stale.length === 0 ? 'The Action is fresh.' : `Written: ${stale.join(', ')}`)
}

/** Of every package that something of is in the bundle. */
async function licences(inputs) {
  const folders = new Set()
  for (const input of inputs) {
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
