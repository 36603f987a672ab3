/** The kinds of flags, as yargs takes them. */

/** On or off. */
export const toggle = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'boolean', group, describe, ...(more as More) }) as const

/** Takes a value. */
export const text = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'string', requiresArg: true, group, describe, ...(more as More) }) as const

export const number = <const More extends object>(group: string, describe: string, more?: More) =>
  ({ type: 'number', requiresArg: true, group, describe, ...(more as More) }) as const
