/** A command as data: what it takes, what its help says, and where its work is loaded from when it is needed. */
import type { ArgumentsCamelCase, InferredOptionTypes, Options } from 'yargs'
import type { ExitCode } from '../model/index.ts'
import type { Io } from './io.ts'

/** How `-` is passed on to the commands: the parser takes a lone hyphen for an option without a name. */
export const STDIN = '<stdin>'

export type Flags = Readonly<Record<string, Options>>

export type FlagsOf<F extends Flags> = ArgumentsCamelCase<InferredOptionTypes<F>>

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
    readonly run: (
      argv: FlagsOf<F> & {
        readonly paths: readonly string[]
        readonly projects: readonly string[]
        readonly shell: string
        readonly name: string
        readonly ref: string
        readonly refs: readonly string[]
        readonly code: string | undefined
      },
      io: Io,
    ) => Promise<ExitCode>
  },
): Command => definition as unknown as Command
