// Starts a sandbox for the demos, with the project from examples/quickstart.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

export const MANIFEST = 'examples/quickstart/espalier.yaml'

const start = (args, output, env = process.env) =>
  spawn(process.execPath, ['dist/main.js', ...args], { cwd: root, env, stdio: ['ignore', output, 'inherit'] })

/** @returns what the sandbox prints about its computes, and functions to run commands against it and to stop it. */
export const startDemoSandbox = async (...flags) => {
  const seed = 'examples/quickstart/seed.yaml'
  const sandbox = start(['sandbox', 'serve', '--port', '0', '--seed', seed, ...flags], 'pipe')
  const ended = once(sandbox, 'exit')
  const printed = {}
  for await (const line of createInterface({ input: sandbox.stdout })) {
    const [name, ...values] = line.split('  ')
    printed[name] ??= values
    if (printed.Computes !== undefined) break
  }
  if (printed.Computes === undefined) throw new Error('the sandbox exited before it printed its address')
  sandbox.stdout.resume()
  const [url] = printed.API
  const env = { ...process.env, ESPALIER_BASE_URL: url, ESPALIER_API_KEY: printed.Key[0] }
  return {
    computes: printed.Computes,

    /** Prints the command as a user would type it, runs it and returns its exit code. */
    run: async (...args) => {
      process.stdout.write(`\n$ espalier ${args.join(' ')}\n\n`)
      const [code] = await once(start(args, 'inherit', env), 'exit')
      return code
    },

    /** The connection string printed by `espalier sandbox connect`. */
    uriOf: async (ref) => {
      const child = start(['sandbox', 'connect', ref, '--port', new URL(url).port], 'pipe', env)
      return (await child.stdout.setEncoding('utf8').toArray()).join('').trim()
    },

    stop: async () => {
      sandbox.kill('SIGTERM')
      await ended
    },
  }
}
