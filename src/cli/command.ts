/** Describes a command as data: its arguments and its help. commands/index.ts names the code that runs it. */
import type { ExitCode } from '../model/index.ts'
import type { Flags, FlagValues } from './flag.ts'
import type { COMMON_FLAGS } from './flags.ts'
import type { Io } from './io.ts'

/** Stands for `-` on the command line, because the parser would treat a lone hyphen as an option without a name. */
export const STDIN = '<stdin>'

interface Positional {
  readonly describe: string
  readonly choices?: readonly string[]
  readonly array?: boolean
}

export interface Command {
  /** The name of the command, followed by its positionals in yargs' notation. */
  readonly command: string
  readonly summary: string
  readonly positionals?: Readonly<Record<string, Positional>>
  readonly flags: Flags
  /** Examples, each with a command line and a description. */
  readonly examples: readonly (readonly [string, string])[]
  /** Text that the help shows below the flags, such as exit codes. */
  readonly notes: string
}

/** The values of the command's flags, of the common flags, and of its positionals. */
export type ValuesOf<C extends Command> = FlagValues<C['flags'] & typeof COMMON_FLAGS> &
  (C extends { readonly positionals: infer P extends Readonly<Record<string, Positional>> }
    ? { readonly [N in keyof P & string]: PositionalValue<P[N], `[${N}]`, C['command']> }
    : unknown)

type PositionalValue<P extends Positional, Optional extends string, Line extends string> = P extends { array: true }
  ? readonly string[]
  : P extends { choices: readonly (infer Choice)[] }
    ? Choice
    : Line extends `${string}${Optional}`
      ? string | undefined
      : string

/** The function that runs a command. */
export type Run<C extends Command> = (values: ValuesOf<C>, io: Io) => Promise<ExitCode>

/** A command that can be run, or a group of such commands. */
export interface Runnable extends Command {
  readonly subcommands?: readonly Runnable[]
  readonly run?: (values: Readonly<Record<string, unknown>>, io: Io) => Promise<ExitCode>
}
