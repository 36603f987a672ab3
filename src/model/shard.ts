/** One of several runs that share a fleet. */
export interface Shard {
  /** From 1 to `count`. */
  readonly index: number
  readonly count: number
}

/** With more shards, the account's limit would allow each of them less than one request per minute. */
export const MAX_SHARDS = 700

/** Parses `2/5`, the second of five. `undefined` if the text is invalid. */
export const parseShard = (text: string): Shard | undefined => {
  const [, index, count] = /^([1-9]\d{0,2})\/([1-9]\d{0,2})$/.exec(text) ?? []
  const shard = { index: Number(index), count: Number(count) }
  return shard.index <= shard.count && shard.count <= MAX_SHARDS ? shard : undefined
}

export const shardText = ({ index, count }: Shard): string => `${index}/${count}`
