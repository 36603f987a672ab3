import type { Command, Entry } from '../src/cli/command.ts'
import { COMMANDS } from '../src/cli/commands/index.ts'

interface Loaded extends Command {
  /** The name that users type, such as `operations list`. */
  readonly name: string
  /** The name followed by the positionals. */
  readonly line: string
}

const load = async (entries: readonly Entry[], before = ''): Promise<readonly Loaded[]> => {
  const loading = entries.map(async (entry) => {
    const name = `${before}${entry.command.split(' ')[0]}`
    if ('subcommands' in entry) return load(entry.subcommands, `${name} `)
    return [{ name, line: `${before}${entry.command}`, ...(await entry.load()) }]
  })
  return (await Promise.all(loading)).flat()
}

/** All commands that can be run. */
export const EVERY_COMMAND = await load(COMMANDS)
