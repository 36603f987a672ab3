/** The shape of a command: its entry in the table of commands (commands/index.ts), and what its own file adds. */
import type { ExitCode } from '../base/index.ts'
import type { COMMON_FLAGS, Flags, FlagValues } from './setup/flags.ts'
import type { Io } from './setup/io.ts'

/** Stands for `-` on the command line, because the parser would treat a lone hyphen as an option without a name. */
export const STDIN = '<stdin>'

/** The command that is running, with the values of its flags and positionals, for the commands that messages suggest. */
export interface Invocation {
  /** The full name, such as `operations list`. */
  readonly name: string
  readonly flags: Flags
  readonly values: Readonly<Record<string, unknown>>
}

interface Positional {
  readonly describe: string
  readonly choices?: readonly string[]
  readonly array?: boolean
  /** Whether the positional may be missing. The entry in the table writes it in square brackets. */
  readonly optional?: boolean
}

/** What the help shows of a command or of a group of commands. */
interface HelpTexts {
  /** Examples, each with a command line and a description. */
  readonly examples: readonly (readonly [string, string])[]
  /** Text that the help shows below the flags, such as exit codes. */
  readonly notes: string
}

/** The arguments of a command and its help. */
export interface Description extends HelpTexts {
  readonly positionals?: Readonly<Record<string, Positional>>
  readonly flags: Flags
}

export interface Command extends Description {
  readonly run: (values: Readonly<Record<string, unknown>>, io: Io) => Promise<ExitCode>
}

interface Named {
  /** The name of the command, followed by its positionals in yargs' notation. */
  readonly command: string
  readonly summary: string
}

export interface Leaf extends Named {
  /** Loads the command with the code that runs it, which is too much for commands that do not run. */
  readonly load: () => Promise<Command>
}

interface Group extends Named, HelpTexts {
  readonly subcommands: readonly Leaf[]
}

export type Entry = Leaf | Group

/** The values of the command's flags, of the common flags, and of its positionals. */
export type ValuesOf<D extends Description> = FlagValues<D['flags'] & typeof COMMON_FLAGS> & {
  readonly invocation: Invocation
} & (D extends { readonly positionals: infer P extends Readonly<Record<string, Positional>> }
    ? { readonly [N in keyof P & string]: PositionalValue<P[N]> }
    : unknown)

type PositionalValue<P extends Positional> = P extends { array: true }
  ? readonly string[]
  : P extends { choices: readonly (infer Choice)[] }
    ? Choice
    : P extends { optional: true }
      ? string | undefined
      : string

export const commandOf = <D extends Description>(
  description: D,
  run: (values: ValuesOf<D>, io: Io) => Promise<ExitCode>,
): Command => ({ ...description, run: (values, io) => run(values as ValuesOf<D>, io) })
