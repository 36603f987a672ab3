// How the program is bundled: with the libraries that it uses, in chunks, so that a command loads only what it needs.
import { readFile } from 'node:fs/promises'
import { rolldown } from 'rolldown'

/**
 * @param input entry files by name.
 * @returns the paths of the modules that something was bundled of.
 */
export async function bundle(input, dir) {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  const build = await rolldown({
    input,
    platform: 'node',
    // Of the sandbox's real computes only; they look for optional packages of their own.
    external: /^(pg|node-forge)($|\/)/,
    transform: { target: 'node20.19', define: { __ESPALIER_VERSION__: JSON.stringify(version) } },
    // A room's door must not bring the whole room.
    treeshake: { moduleSideEffects: (id) => !/[\\/]src[\\/][^?]*\.[tj]s$/.test(id) || id.includes('node_modules') },
  })
  const { output } = await build.write({
    dir,
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: false,
  })
  await build.close()
  return output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []))
}
