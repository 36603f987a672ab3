/**
 * The descriptions of commands. The build writes them to a file, so that help, completion and messages about flags need
 * not load what a command needs to run.
 */
import { readFileSync } from 'node:fs'
import type { Description, Entry, Leaf } from './command.ts'
import { COMMANDS } from './commands/index.ts'

/** By the command's full name, such as `operations list`. */
export type Descriptions = Readonly<Record<string, Description>>

export const isLeaf = (entry: Entry): entry is Leaf => 'load' in entry

/** The name of the command, without its positionals. */
export const nameOf = ({ command }: Entry): string => command.split(' ')[0] ?? ''

/** Every command that can be run, with its full name. */
const LEAVES: ReadonlyMap<Leaf, string> = new Map(
  COMMANDS.flatMap((entry) =>
    isLeaf(entry)
      ? [[entry, nameOf(entry)] as const]
      : entry.subcommands.map((leaf) => [leaf, `${nameOf(entry)} ${nameOf(leaf)}`] as const),
  ),
)

/** `undefined` if the program runs from source, or is a single executable, which has loaded all commands anyway. */
const built = (): Descriptions | undefined => {
  try {
    return JSON.parse(readFileSync(new URL('../help/commands.json', import.meta.url), 'utf8'))
  } catch {
    return undefined
  }
}

export const descriptionOf = async (leaf: Leaf): Promise<Description> =>
  built()?.[LEAVES.get(leaf) ?? ''] ?? leaf.load()

export const allDescriptions = async (): Promise<Descriptions> =>
  built() ??
  Object.fromEntries(
    await Promise.all([...LEAVES].map(async ([leaf, name]) => [name, describe(await leaf.load())] as const)),
  )

const describe = ({ run: _, ...description }: Description & { readonly run: unknown }): Description => description
