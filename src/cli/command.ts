/** A command as data: its arguments, its help, and a function that loads and runs it. */
import type { ExitCode } from '../model/index.ts'
import type { Flags, FlagValues } from './flag.ts'
import type { COMMON_FLAGS } from './flags.ts'
import type { Io } from './io.ts'

/** Stands for `-` on the command line: the parser would take a lone hyphen for an option without a name. */
export const STDIN = '<stdin>'

interface Positionals {
  readonly paths: readonly string[]
  readonly projects: readonly string[]
  readonly shell: string
  readonly ref: string
  readonly refs: readonly string[]
  readonly code: string | undefined
}

/** What `run` receives: the command's flags, the common flags, and its positionals. */
export type ValuesOf<F extends Flags, P extends keyof Positionals = never> = FlagValues<F & typeof COMMON_FLAGS> &
  Pick<Positionals, P>

export interface Command {
  /** The name, then positionals in yargs' notation. */
  readonly command: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly positionals?: Readonly<Record<string, { describe: string; choices?: readonly string[]; array?: boolean }>>
  readonly flags: Flags
  /** Command line and description. */
  readonly examples: readonly (readonly [string, string])[]
  /** Printed below the flags: exit codes, environment. */
  readonly notes: string
  readonly subcommands?: readonly Command[]
  readonly run?: (argv: Readonly<Record<string, unknown>>, io: Io) => Promise<ExitCode>
}

/** Infers the type of `run`'s argument from the flags. */
export const defineCommand = <F extends Flags>(
  definition: Omit<Command, 'flags' | 'run'> & {
    readonly flags: F
    readonly run: (argv: ValuesOf<F, keyof Positionals>, io: Io) => Promise<ExitCode>
  },
): Command => definition as unknown as Command
