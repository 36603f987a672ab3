/** The values of the flags by which a plan is reviewed. */
import { parsePrice } from '../cost/index.ts'
import { parseTierTable } from '../manifest/index.ts'
import { EspalierError, hasErrors, TIER_TABLE, type TierTable, tierOf } from '../model/index.ts'
import { checkOverrideNames, parseOverrides } from '../policy/index.ts'
import { type Manifests, readManifestText } from '../workflow/index.ts'
import { usageError } from './flags.ts'
import type { Io } from './io.ts'

export interface ReviewFlags {
  /** The policies at this git ref count: overrides name those. */
  readonly base?: string | undefined
  readonly price?: string | undefined
  readonly tier?: string | undefined
  readonly tierTable?: string | undefined
  readonly policy?: readonly string[] | undefined
  readonly override?: readonly string[] | undefined
}

/** @throws {EspalierError} `E_PRICE`, `E_TIER_TABLE`, `E_OVERRIDE`, `E_USAGE` */
export const withReviewFlags = async (manifests: Manifests, flags: ReviewFlags, io: Io): Promise<Manifests> => {
  const { price, tier, tierTable, override = [] } = flags
  const table = tierTable === undefined ? undefined : await readTierTable(tierTable, io)
  if (tier !== undefined && tier !== 'none' && tierOf(tier, table) === undefined) {
    const names = (table ?? TIER_TABLE).tiers.map(({ name }) => name)
    throw usageError(`--tier ${tier} is not in the table.`, `It has ${names.join(', ')}; none checks nothing.`)
  }
  const { review } = manifests
  const overrides = parseOverrides(override)
  if (flags.base === undefined && !hasErrors(manifests.loaded.diagnostics)) checkOverrides(overrides, manifests)
  return {
    ...manifests,
    review: {
      ...review,
      ...(price === undefined ? {} : { price: parsePrice(price) }),
      ...(tier === undefined ? {} : { tier }),
      ...(table === undefined ? {} : { table }),
      ...(overrides.size === 0 ? {} : { overrides }),
    },
  }
}

/** @throws {EspalierError} `E_OVERRIDE` */
export const checkOverrides = (
  overrides: ReadonlyMap<string, string>,
  ...all: readonly (Manifests | undefined)[]
): void =>
  checkOverrideNames(
    overrides,
    all.flatMap((manifests) => manifests?.review?.policies?.policies.map(({ name }) => name) ?? []),
  )

const readTierTable = async (path: string, io: Io): Promise<TierTable> => {
  const text = await readManifestText(path, io.cwd)
  const { table, diagnostics } = parseTierTable({ path, text })
  if (table !== undefined) return table
  const [first] = diagnostics
  const { line = 1, column = 1 } = first?.source ?? {}
  throw new EspalierError(
    'E_TIER_TABLE',
    `${path}:${line}:${column}: ${first?.message ?? 'This is not a tier table.'}`,
    {
      hint: first?.hint ?? '`espalier sizes --tiers` prints the built-in one: start from that.',
    },
  )
}
