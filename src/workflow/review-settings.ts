/** Reads the policies to override from flags or inputs. */
import { userInfo } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { defined, EspalierError } from '../base/index.ts'
import { hasErrors, type Policy, sourceText, startOfFile } from '../model/index.ts'
import { checkOverrideNames, parseOverrides } from '../policy/index.ts'
import type { Manifests } from './manifests.ts'
import { NO_POLICIES } from './policies.ts'

export interface ReviewSettings {
  /** Policies to override, as `NAME=REASON`. */
  readonly override?: readonly string[] | undefined
  /** How many computes may restart. */
  readonly maxRestarts?: number | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * @param hasBase whether there is a base. If so, overrides may also name policies of the base, which is read later.
 * @throws {EspalierError} `E_OVERRIDE`, `E_POLICY_RULE`
 */
export const withReview = async (
  manifests: Manifests,
  { override = [], maxRestarts }: ReviewSettings,
  { env, hasBase = false }: { readonly env: Environment; readonly hasBase?: boolean },
): Promise<Manifests> => {
  refuseDailyLimits(manifests)
  const overrides = parseOverrides(override)
  const reviewed: Manifests = {
    ...manifests,
    review: {
      ...manifests.review,
      ...(maxRestarts === undefined ? {} : { maxRestarts: maxRestartsPolicy(maxRestarts) }),
      ...(overrides.size === 0 ? {} : { overrides, actor: actorOf(env) }),
    },
  }
  if (!hasBase && !hasErrors(manifests.loaded.diagnostics)) checkOverrides(reviewed)
  return reviewed
}

/** Adds the policies of earlier commits, unless they are the same as the present ones. */
export const withEarlier = (
  manifests: Manifests,
  earlier: readonly { readonly manifests: Manifests; readonly changes?: ReadonlySet<string> }[],
): Manifests => {
  const own = manifests.review?.policies?.policies ?? []
  const others = earlier.flatMap(({ manifests: { review }, changes }) => {
    const { policies = NO_POLICIES } = review ?? {}
    const isNew = !isDeepStrictEqual(policies.policies, own)
    return isNew ? [{ ...policies, ...defined({ changes }) }] : []
  })
  return others.length === 0 ? manifests : { ...manifests, review: { ...manifests.review, earlier: others } }
}

const MAX_RESTARTS = 'max-restarts'

/** The policy that `--max-restarts` stands for. */
const maxRestartsPolicy = (limit: number): Policy => ({
  name: MAX_RESTARTS,
  level: 'deny',
  reason: 'The run was started with this limit.',
  except: [],
  computes: 'any',
  rule: { kind: 'maxRestarts', limit },
  source: startOfFile('--max-restarts'),
})

/** The manifests as for a plan, which has no `--max-restarts`. */
export const withoutMaxRestarts = (manifests: Manifests): Manifests => {
  if (manifests.review?.maxRestarts === undefined) return manifests
  const { maxRestarts: _, overrides = new Map(), ...review } = manifests.review
  const others = new Map([...overrides].filter(([name]) => name !== MAX_RESTARTS))
  return { ...manifests, review: { ...review, overrides: others } }
}

/** @throws {EspalierError} `E_POLICY_RULE` */
const refuseDailyLimits = ({ review }: Manifests): void => {
  const daily = review?.policies?.policies.find(({ per }) => per !== undefined)
  if (daily === undefined) return
  throw new EspalierError(
    'E_POLICY_RULE',
    `${sourceText(daily.source)}: The policy \`${daily.name}\` limits a day, but only the agent knows what was done before.`,
    { hint: 'Remove `per: day`, or pass the policy only to `agent run`, with --policy.' },
  )
}

/** @throws {EspalierError} `E_OVERRIDE` if the first manifests override a policy that none of the manifests define. */
export const checkOverrides = (...all: readonly [Manifests, ...(Manifests | undefined)[]]): void =>
  checkOverrideNames(
    all[0].review?.overrides ?? new Map(),
    all.flatMap((manifests) => {
      const { policies: { policies } = NO_POLICIES, earlier = [], maxRestarts } = manifests?.review ?? {}
      const known = [...policies, ...earlier.flatMap((one) => one.policies)]
      return [...known.map(({ name }) => name), ...(maxRestarts === undefined ? [] : [MAX_RESTARTS])]
    }),
  )

/** The user who started the workflow, or who is logged in. */
const actorOf = ({ GITHUB_ACTOR = '', USER = '' }: Environment): string => {
  const named = GITHUB_ACTOR || USER
  if (named !== '') return named
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
