/** Defines flags for yargs, and derives the types of their values. */
import type { Options } from 'yargs'

export interface Flag extends Options {
  /** The value is written as `10m`, and read as milliseconds. */
  readonly isDuration?: boolean
  /** The smallest number allowed. Default: 0. */
  readonly min?: number
  readonly max?: number
  /** Accepts fractions too. */
  readonly isFractional?: boolean
}

export type Flags = Readonly<Record<string, Flag>>

/** @param group the heading that the flag is listed under in the help; empty for the general heading. */
export const toggle = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'boolean', group, describe, ...(more as More) }) as const

export const text = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'string', requiresArg: true, group, describe, ...(more as More) }) as const

export const number = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'number', requiresArg: true, group, describe, ...(more as More) }) as const

export const duration = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ ...text(group, describe, more), isDuration: true }) as const

type CamelCase<S extends string> = S extends `${infer Head}-${infer Rest}` ? `${Head}${Capitalize<CamelCase<Rest>>}` : S

type ValueOf<O extends Options> = O extends { array: true }
  ? readonly string[]
  : O extends { choices: readonly (infer Choice)[] }
    ? Choice
    : O extends { isDuration: true }
      ? number
      : { boolean: boolean; number: number; string: string }[O['type'] & ('boolean' | 'number' | 'string')]

type AlwaysSet = { readonly default: unknown } | { readonly demandOption: true }

/** Values of flags by name in camel case. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F & string as F[K] extends AlwaysSet ? CamelCase<K> : never]: ValueOf<F[K]>
} & {
  readonly [K in keyof F & string as F[K] extends AlwaysSet ? never : CamelCase<K>]?: ValueOf<F[K]> | undefined
}
