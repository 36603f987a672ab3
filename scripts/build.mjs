// Builds the program into dist/, together with its help, its man page and the licences of its dependencies.
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { bundle } from './bundle.mjs'
import { licences } from './licences.mjs'

await rm('dist', { recursive: true, force: true })
const modules = await bundle(
  { main: 'src/cli/main.ts', index: 'src/index.ts', sandbox: 'src/sandbox/public.ts' },
  'dist',
)
await writeTypes(['src/index.ts', 'src/sandbox/public.ts'], 'dist/types')
await writeFile('dist/LICENSES.txt', await licences(modules))
await cacheHelp()
await promisify(execFile)(process.execPath, [
  '--import',
  'tsx',
  'scripts/man-page.ts',
  'dist/help/commands.json',
  'dist/espalier.1',
])

/**
 * Writes the types of the public entry points, including all types that they use. The type files must not refer to
 * other files, because the package contains neither the sources nor the types of the bundled libraries.
 */
async function writeTypes(entries, to) {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-types-'))
  // `npm run types` checks the types.
  const emit = [
    '--noCheck',
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--rootDir',
    'src',
    '--outDir',
    folder,
  ]
  try {
    await promisify(execFile)(
      process.execPath,
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...emit],
      { env: { PATH: process.env.PATH } },
    )
    const waiting = entries.map((file) => file.replace(/^src\/(.+)\.ts$/, '$1.d.ts'))
    const written = new Set()
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (written.has(file)) continue
      written.add(file)
      const text = await readFile(join(folder, file), 'utf8')
      for (const [, from] of text.matchAll(/\b(?:from |import\()['"]([^'"]+)['"]/g)) {
        if (from.startsWith('.')) waiting.push(join(dirname(file), from.replace(/\.ts$/, '.d.ts')))
        else if (!from.startsWith('node:'))
          throw new Error(`${file} refers to types of ${from}, which is not published`)
      }
      await mkdir(dirname(join(to, file)), { recursive: true })
      await writeFile(join(to, file), text.replace(/((?:from |import\()['"]\.[^'"]+)\.ts(?=['"])/g, '$1.js'))
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * Renders the help during the build, because rendering would take most of the time of `--help`
 * (src/cli/main.ts).
 */
async function cacheHelp() {
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

// npm may have created a link to the previous file, so the new file must be executable too.
await chmod('dist/main.js', 0o755)
