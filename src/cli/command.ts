/** A command as data: what it takes, what its help says, and where its work is loaded from when it is needed. */
import type { ExitCode } from '../model/index.ts'
import type { Flags, FlagValues } from './flag.ts'
import type { COMMON_FLAGS } from './flags.ts'
import type { Io } from './io.ts'

/** How `-` reaches a command: the parser would take a lone hyphen for an option without a name. */
export const STDIN = '<stdin>'

interface Positionals {
  readonly paths: readonly string[]
  readonly projects: readonly string[]
  readonly shell: string
  readonly ref: string
  readonly refs: readonly string[]
  readonly code: string | undefined
}

/** What a command is given: its flags in camel case, those of every command, and its positionals. */
export type ValuesOf<F extends Flags, P extends keyof Positionals = never> = FlagValues<F & typeof COMMON_FLAGS> &
  Pick<Positionals, P>

export interface Command {
  /** As yargs writes it: the name, then its positionals. */
  readonly command: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly positionals?: Readonly<Record<string, { describe: string; choices?: readonly string[]; array?: boolean }>>
  readonly flags: Flags
  /** The command line and what it is for. */
  readonly examples: readonly (readonly [string, string])[]
  /** Printed below the flags: exit codes, environment. */
  readonly notes: string
  readonly subcommands?: readonly Command[]
  readonly run?: (argv: Readonly<Record<string, unknown>>, io: Io) => Promise<ExitCode>
}

/** Gives `run` the types of its own flags. */
export const defineCommand = <F extends Flags>(
  definition: Omit<Command, 'flags' | 'run'> & {
    readonly flags: F
    readonly run: (argv: ValuesOf<F, keyof Positionals>, io: Io) => Promise<ExitCode>
  },
): Command => definition as unknown as Command
