// Bundles the program with its dependencies. The bundle is split into chunks, so that a command loads only what it
// needs.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'

/**
 * Finding a file takes about a third of a millisecond, so the modules that nearly every command loads share a chunk.
 */
const TOGETHER = [
  // Only `explain` loads the explanations, and few commands load the library for time zones.
  { name: 'model', test: /src[\\/]model[\\/](?!explanations|generated|window-opening)/ },
  {
    name: 'manifest',
    test: /src[\\/](manifest[\\/](?!write|definition[\\/])|base[\\/]yaml[\\/])/,
  },
  {
    name: 'review',
    test: /src[\\/](workflow[\\/](at-ref|manifests|policies|review-settings)|planner[\\/](declarations|match|permissions|resolve)|policy[\\/]|cost[\\/]|service[\\/]tier)/,
  },
  // This chunk contains nothing that reads manifests or calls the service, because completion may load nothing else.
  {
    name: 'cli',
    test: /src[\\/]cli[\\/](program|command-line|command|descriptions|commands[\\/]index|completion[\\/]complete|setup[\\/]flags|terminal[\\/](terminal|print-error))\.ts/,
  },
]

/**
 * Writes a bundle in chunks, to be run by an installed Node.
 * @param input the entry files, by name.
 * @param options With `wholeUndici`, the index of undici is included, as with an ordinary import.
 * @returns the paths of the modules in the bundle.
 */
export const bundle = (input, dir, { wholeUndici = false } = {}) =>
  write(
    // Only the sandbox's real computes need `pg`.
    { input, external: /^pg($|\/)/, target: 'node20.19', wholeUndici },
    { dir, chunkFileNames: 'chunks/[name]-[hash].js', codeSplitting: { groups: TOGETHER } },
  )

/**
 * Writes a bundle that is a single self-contained file, for an executable that includes Node.
 * @param help the help of the program for each width, as rendered by the build.
 * @returns the paths of the modules in the bundle.
 */
export const bundleWhole = (input, file, target, help) =>
  write(
    // Optional native parts of `pg` and `ws`.
    { input, external: ['pg-native', 'bufferutil', 'utf-8-validate'], target, define: { __ESPALIER_HELP__: help } },
    { file, codeSplitting: false },
  )

async function write({ input, external, target, wholeUndici = false, define = {} }, output) {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  const constants = { __ESPALIER_VERSION__: version, __ESPALIER_COMMIT__: releaseCommit(version), ...define }
  const build = await rolldown({
    input,
    platform: 'node',
    external,
    // The bundler only warns, and the program would fail when it loads the module.
    onLog: (level, log, print) => {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
      print(level, log)
    },
    plugins: [
      {
        name: 'lean',
        transform: (code) => {
          if (!code.includes(SEGMENTER)) return null
          return code.replace(SEGMENTER, 'let segmenter;').replace('segmenter.segment', `(${LAZY}).segment`)
        },
        generateBundle: (_options, files) => Object.values(files).forEach(makeLean),
      },
    ],
    // Use the ES modules of these libraries, so that unused code can be removed and their imports are visible.
    resolve: {
      alias: {
        yaml: resolve('node_modules/yaml/browser/index.js'),
        'jsonc-parser': resolve('node_modules/jsonc-parser/lib/esm/main.js'),
        ...(wholeUndici ? {} : { undici$: resolve('scripts/undici.cjs') }),
      },
    },
    transform: {
      target,
      define: Object.fromEntries(
        Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value) ?? 'undefined']),
      ),
    },
    // main.js then contains the version, and loads no file to print it.
    optimization: { inlineConst: true },
    // An index must not load its whole module.
    treeshake: { moduleSideEffects: (id) => !/[\\/]src[\\/][^?]*\.[tj]s$/.test(id) || id.includes('node_modules') },
  })
  const written = await build.write({
    format: 'esm',
    sourcemap: false,
    // Stack traces in bug reports need function names.
    minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true }, codegen: true },
    ...output,
  })
  await build.close()
  return written.output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []))
}

/** In string-width. Making one loads data of ICU, which output without emoji does not need. */
const SEGMENTER = 'const segmenter = new Intl.Segmenter();'
const LAZY = 'segmenter ??= new Intl.Segmenter()'

/**
 * Removes what only takes time at start-up: Node decodes text that is not ASCII slowly and stores it in twice the space,
 * and the bundler imports its helpers even where none is used.
 */
function makeLean(chunk) {
  if (chunk.type !== 'chunk') return
  const code = chunk.code
    .replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/\bimport"[^"]*\/rolldown-runtime-[^"]*";/g, '')
  chunk.code = inLines(code)
}

/**
 * Puts each statement on its own line, because Node prints the whole line of an uncaught error. Indenting the code would
 * make it a third larger, and slower to load.
 */
function inLines(code) {
  const starts = new Set()
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (node === null || typeof node !== 'object') return
    const lists = [node.body, node.type === 'SwitchCase' ? node.consequent : undefined]
    for (const one of lists.filter(Array.isArray).flat()) starts.add(one.start)
    Object.values(node).forEach(visit)
  }
  visit(parseAst(code))
  const at = [0, ...[...starts].sort((a, b) => a - b), code.length]
  return at
    .slice(1)
    .map((end, index) => code.slice(at[index], end))
    .join('\n')
}

/** The current commit, if the tag of the release points to it. */
function releaseCommit(version) {
  try {
    const ask = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    return ask('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`) ? ask('rev-parse', 'HEAD') : undefined
  } catch {
    return undefined
  }
}
