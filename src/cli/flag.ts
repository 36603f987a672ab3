/** Defines flags for yargs, and derives the types of the values that they have. */
import type { Options } from 'yargs'

export interface Flag extends Options {
  /** What stands for the value in the help. */
  readonly value?: string
  /** Whether the value is a duration, which users write as `10m` and commands receive in milliseconds. */
  readonly isDuration?: boolean
  /** The smallest number allowed. Default: 0. */
  readonly min?: number
  readonly max?: number
  /** Whether fractions are accepted too. */
  readonly isFractional?: boolean
}

export type Flags = Readonly<Record<string, Flag>>

/** @param group the heading under which the help lists the flag. If empty, this is the general heading. */
export const toggle = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'boolean', group, describe, ...(more as More) }) as const

export const text = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'string', requiresArg: true, group, describe, ...(more as More) }) as const

export const number = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'number', requiresArg: true, group, describe, ...(more as More) }) as const

export const duration = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ ...text(group, describe, more), isDuration: true }) as const

/** How the help writes the value of a flag, such as `FILE` or `terminal|json`. `undefined` if the flag has none. */
export const valueNameOf = ({ type, value, choices, isDuration }: Flag): string | undefined => {
  if (type === 'boolean') return undefined
  return value ?? choices?.join('|') ?? (isDuration === true ? 'TIME' : type === 'number' ? 'N' : 'VALUE')
}

type CamelCase<S extends string> = S extends `${infer Head}-${infer Rest}` ? `${Head}${Capitalize<CamelCase<Rest>>}` : S

type ValueOf<O extends Options> = O extends { array: true }
  ? readonly string[]
  : O extends { choices: readonly (infer Choice)[] }
    ? Choice
    : O extends { isDuration: true }
      ? number
      : { boolean: boolean; number: number; string: string }[O['type'] & ('boolean' | 'number' | 'string')]

type AlwaysSet = { readonly default: unknown } | { readonly demandOption: true }

/** The values of flags, by their name in camel case. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F & string as F[K] extends AlwaysSet ? CamelCase<K> : never]: ValueOf<F[K]>
} & {
  readonly [K in keyof F & string as F[K] extends AlwaysSet ? never : CamelCase<K>]?: ValueOf<F[K]> | undefined
}
