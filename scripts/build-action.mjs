// Bundles the GitHub Action into action/index.cjs, and writes the licences of its dependencies.
// With `--check`, fails if the committed file is out of date.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { build } from 'esbuild'
import { licences } from './licences.mjs'

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
      // The sandbox in the Action simulates its computes, so it needs neither a Postgres client nor certificates.
      name: 'no-postgres',
      setup: ({ onResolve, onLoad }) => {
        onResolve({ filter: /postgres-computes\.ts$/ }, () => ({ path: 'no-postgres', namespace: 'left-out' }))
        onResolve({ filter: /postgres\/binaries\.ts$/ }, () => ({ path: 'no-binaries', namespace: 'left-out' }))
        onLoad({ filter: /no-postgres/, namespace: 'left-out' }, () => ({
          contents: "export const postgresComputes = () => { throw new Error('the Action does not include Postgres') }",
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
  console.error(`Out of date: ${stale.join(', ')}. Run \`npm run build:action\` and commit the result.`)
  process.exitCode = 1
} else {
  console.log(stale.length === 0 ? 'The Action is up to date.' : `Written: ${stale.join(', ')}`)
}
