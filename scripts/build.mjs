// Builds the program into dist/, with the licences of what is in it, and with its help.
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundle } from './bundle.mjs'
import { licences } from './licences.mjs'

await rm('dist', { recursive: true, force: true })
const modules = await bundle({ main: 'src/cli/main.ts', sandbox: 'src/sandbox/public.ts' }, 'dist')
await writeFile('dist/sandbox.d.ts', await typesOf('src/sandbox/public.ts'))
await writeFile('dist/LICENSES.txt', await licences(modules))
await cacheHelp()

/** The types of one module, which may need no other's: an application has none of our sources. */
async function typesOf(file) {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-types-'))
  try {
    const options = [
      '--noEmit',
      'false',
      '--declaration',
      '--emitDeclarationOnly',
      '--rootDir',
      'src',
      '--outDir',
      folder,
    ]
    await promisify(execFile)(
      process.execPath,
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...options],
      {
        env: { PATH: process.env.PATH },
      },
    )
    const text = await readFile(join(folder, file.replace(/^src\//, '').replace(/\.ts$/, '.d.ts')), 'utf8')
    if (/\bfrom ['"]/.test(text)) throw new Error(`${file} exports types that it does not declare itself`)
    return text
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Laid out once, here: what it takes to do so is most of what `--help` would take (src/cli/cached-help.ts). */
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

// A link of npm's to the file before is a link to this one, which must run as that did.
await chmod('dist/main.js', 0o755)
