// How the program is bundled: with the libraries that it uses, in chunks, so that a command loads only what it needs.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { rolldown } from 'rolldown'

/** Each file costs about a third of a millisecond to find, so what nearly every command loads is kept together. */
const TOGETHER = [
  { name: 'model', test: /src[\\/]model[\\/]/ },
  { name: 'manifest', test: /src[\\/]manifest[\\/](?!write)/ },
  // Without what reads manifests or asks the service: completion loads this alone.
  {
    name: 'cli',
    test: /src[\\/]cli[\\/](terminal|flags|print-error|suggest|program|command-line|completion[\\/]complete|command|commands[\\/][\w-]+)\.ts/,
  },
]

/**
 * @param input entry files by name.
 * @param options `wholeUndici`: with its index, as anybody imports it.
 * @returns the paths of the modules that something was bundled of.
 */
export async function bundle(input, dir, { wholeUndici = false } = {}) {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  const build = await rolldown({
    input,
    platform: 'node',
    // Of the sandbox's real computes only; they look for optional packages of their own.
    external: /^pg($|\/)/,
    // The same libraries as ES modules: what is not used of them can be left out, and what they load is seen.
    resolve: {
      alias: {
        yaml: resolve('node_modules/yaml/browser/index.js'),
        'jsonc-parser': resolve('node_modules/jsonc-parser/lib/esm/main.js'),
        ...(wholeUndici ? {} : { undici$: resolve('scripts/undici.cjs') }),
      },
    },
    transform: { target: 'node20.19', define: { __ESPALIER_VERSION__: JSON.stringify(version) } },
    // An index must not load its whole module.
    treeshake: { moduleSideEffects: (id) => !/[\\/]src[\\/][^?]*\.[tj]s$/.test(id) || id.includes('node_modules') },
  })
  const { output } = await build.write({
    dir,
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: false,
    // A report of a bug names functions.
    minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true }, codegen: true },
    codeSplitting: { groups: TOGETHER },
  })
  await build.close()
  return output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []))
}
