// Builds build/espalier, an executable that includes Node, and writes the licences of its dependencies. Requires dist/.
// The executable includes the current Node if it is version 26 or newer, otherwise Node from the npm package `node`.
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { glob } from 'tinyglobby'
import { bundleWhole } from './bundle.mjs'
import { licences } from './licences.mjs'
import { nodeBinary } from './node-binary.mjs'

const MAJOR = 26
const own = Number.parseInt(process.versions.node, 10) >= MAJOR
const node = own ? process.execPath : nodeBinary(MAJOR)

const folder = 'build'
const program = join(folder, process.platform === 'win32' ? 'espalier.exe' : 'espalier')
const main = join(folder, 'main.mjs')
const config = join(folder, 'sea.json')

await rm(folder, { recursive: true, force: true })
await mkdir(folder)
const help = Object.fromEntries(
  await Promise.all([100, 110].map(async (width) => [width, await readFile(`dist/help/${width}.txt`, 'utf8')])),
)
const modules = await bundleWhole('src/cli/main.ts', main, `node${MAJOR}`, help)
const [nodeLicence] = await glob(['../LICENSE', './LICENSE', '../node_modules/node-*/LICENSE'], {
  cwd: dirname(node),
  absolute: true,
})
if (nodeLicence === undefined) throw new Error(`Node's LICENSE was not found near ${node}`)
await writeFile(
  join(folder, 'LICENSES.txt'),
  `${await licences(modules)}\n${'-'.repeat(80)}\n\nNode.js\n\n${await readFile(nodeLicence, 'utf8')}`,
)
await writeFile(
  config,
  JSON.stringify({
    main,
    mainFormat: 'module',
    output: program,
    disableExperimentalSEAWarning: true,
    // The code cache halves the load time.
    useCodeCache: true,
  }),
)
execFileSync(node, ['--build-sea', config], { stdio: 'inherit' })
// macOS does not run a program whose signature is invalid.
if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', program], { stdio: 'inherit' })
for (const file of [main, config]) await rm(file)
