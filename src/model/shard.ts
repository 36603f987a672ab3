/** A part of a fleet, as one of several runs takes it. */
export interface Shard {
  /** From 1 to `count`. */
  readonly index: number
  readonly count: number
}

/** More would leave each with less than one request a minute of the account's limit. */
export const MAX_SHARDS = 700

/** `2/5`: the second of five; `undefined` for anything else. */
export const parseShard = (text: string): Shard | undefined => {
  const [, index, count] = /^([1-9]\d{0,2})\/([1-9]\d{0,2})$/.exec(text) ?? []
  const shard = { index: Number(index), count: Number(count) }
  return shard.index <= shard.count && shard.count <= MAX_SHARDS ? shard : undefined
}

export const shardText = ({ index, count }: Shard): string => `${index}/${count}`
