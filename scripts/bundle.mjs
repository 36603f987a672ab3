// How the program is bundled: with the libraries that it uses, in chunks, so that a command loads only what it needs.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { rolldown } from 'rolldown'

/** Each file costs about a third of a millisecond to find, so what nearly every command loads is kept together. */
const TOGETHER = [
  // The version is all that `--version` loads.
  { name: 'model', test: /src[\\/]model[\\/](?!version)/ },
  { name: 'manifest', test: /src[\\/]manifest[\\/](?!write|codes|mistakes|definition[\\/]compiler)/ },
  // Without what reads manifests or asks the service: completion loads this alone.
  {
    name: 'cli',
    test: /src[\\/]cli[\\/](terminal|flags?|review-flags|print-error|suggest|program|command-line|completion[\\/]complete|command|commands[\\/][\w-]+)\.ts/,
  },
]

/**
 * In chunks, for a Node that is installed.
 * @param input entry files by name.
 * @param options `wholeUndici`: with its index, as anybody imports it.
 * @returns the paths of the modules that something was bundled of.
 */
export const bundle = (input, dir, { wholeUndici = false } = {}) =>
  write(
    // `pg` is needed for the sandbox's real computes only.
    { input, external: /^pg($|\/)/, target: 'node20.19', wholeUndici },
    { dir, chunkFileNames: 'chunks/[name]-[hash].js', codeSplitting: { groups: TOGETHER } },
  )

/**
 * Into one file that needs no other, for an executable with a Node of its own.
 * @param help the program's help by width, as the build rendered it.
 * @returns as above.
 */
export const bundleWhole = (input, file, target, help) =>
  write(
    // Optional parts of `pg` and `ws`, written in C.
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
    // The same libraries as ES modules: what is not used of them can be left out, and what they load is seen.
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
    // An index must not load its whole module.
    treeshake: { moduleSideEffects: (id) => !/[\\/]src[\\/][^?]*\.[tj]s$/.test(id) || id.includes('node_modules') },
  })
  const written = await build.write({
    format: 'esm',
    sourcemap: false,
    // A report of a bug names functions.
    minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true }, codegen: true },
    ...output,
  })
  await build.close()
  return written.output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []))
}

/** The commit that is checked out, if it is that of the release: its tag names it. */
function releaseCommit(version) {
  try {
    const ask = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    return ask('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`) ? ask('rev-parse', 'HEAD') : undefined
  } catch {
    return undefined
  }
}
