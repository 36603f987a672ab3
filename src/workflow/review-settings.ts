/** Reads the price, tier, policies and overrides for a run from flags or inputs. */
import { userInfo } from 'node:os'
import { defined } from '../base/index.ts'
import { parsePrice } from '../cost/index.ts'
import { parseTierTable } from '../manifest/index.ts'
import { EspalierError, hasErrors, TIER_TABLE, type TierTable, tierOf } from '../model/index.ts'
import { checkOverrideNames, parseOverrides } from '../policy/index.ts'
import { type Manifests, readManifestText } from './manifests.ts'

export interface ReviewSettings {
  /** For example, `0.222USD`. */
  readonly price?: string | undefined
  readonly tier?: string | undefined
  /** The name of a file with account plans and their limits. */
  readonly tierTable?: string | undefined
  /** Policies to override, as `NAME=REASON`. */
  readonly override?: readonly string[] | undefined
}

export interface ReviewContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether there is a base. If so, overrides may also name policies of the base, which is read later. */
  readonly hasBase?: boolean
}

/** @throws {EspalierError} `E_PRICE`, `E_TIER`, `E_TIER_TABLE`, `E_OVERRIDE` */
export const withReview = async (
  manifests: Manifests,
  { price, tier, tierTable, override = [] }: ReviewSettings,
  { cwd, env, hasBase = false }: ReviewContext,
): Promise<Manifests> => {
  const table = tierTable === undefined ? undefined : await readTierTable(tierTable, cwd)
  if (tier !== undefined && tier !== 'none' && tierOf(tier, table) === undefined) {
    const names = (table ?? TIER_TABLE).tiers.map(({ name }) => name)
    throw new EspalierError('E_TIER', `The table has no account plan \`${tier}\`.`, {
      hint: `It must be ${names.join(', ')}, or \`none\` to disable the checks.`,
    })
  }
  const overrides = parseOverrides(override)
  const reviewed: Manifests = {
    ...manifests,
    review: {
      ...manifests.review,
      ...defined({ price: price === undefined ? undefined : parsePrice(price), tier, table }),
      ...(overrides.size === 0 ? {} : { overrides, actor: actorOf(env) }),
    },
  }
  if (!hasBase && !hasErrors(manifests.loaded.diagnostics)) checkOverrides(reviewed)
  return reviewed
}

/** @throws {EspalierError} `E_OVERRIDE` if the first manifests override a policy that none of the manifests define. */
export const checkOverrides = (...all: readonly [Manifests, ...(Manifests | undefined)[]]): void =>
  checkOverrideNames(
    all[0].review?.overrides ?? new Map(),
    all.flatMap((manifests) => manifests?.review?.policies?.policies.map(({ name }) => name) ?? []),
  )

/** The user who started the workflow, or who is logged in. */
const actorOf = ({ GITHUB_ACTOR = '', USER = '' }: ReviewContext['env']): string => {
  if (GITHUB_ACTOR !== '' || USER !== '') return GITHUB_ACTOR || USER
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}

const readTierTable = async (path: string, cwd: string): Promise<TierTable> => {
  const text = await readManifestText(path, cwd)
  const { table, diagnostics } = await parseTierTable({ path, text })
  if (table !== undefined) return table
  const [first] = diagnostics
  const { line = 1, column = 1 } = first?.source ?? {}
  throw new EspalierError(
    'E_TIER_TABLE',
    `${path}:${line}:${column}: ${first?.message ?? 'This is not a tier table.'}`,
    { hint: first?.hint ?? '`espalier sizes --tiers` prints the built-in one: start from that.' },
  )
}
