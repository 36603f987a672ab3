// Builds the program into dist/: our own source bundled and split so that a command loads only what it needs.
import { readFile, rm } from 'node:fs/promises'
import { build } from 'esbuild'

const { version } = JSON.parse(await readFile('package.json', 'utf8'))
await rm('dist', { recursive: true, force: true })
await build({
  entryPoints: { main: 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  chunkNames: 'chunks/[name]-[hash]',
  define: { __ESPALIER_VERSION__: JSON.stringify(version) },
  sourcemap: false,
  legalComments: 'none',
  logLevel: 'warning',
})
