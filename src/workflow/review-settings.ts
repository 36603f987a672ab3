/** Reads the policies to override from flags or inputs. */
import { userInfo } from 'node:os'
import { hasErrors } from '../model/index.ts'
import { checkOverrideNames, parseOverrides } from '../policy/index.ts'
import type { Manifests } from './manifests.ts'

export interface ReviewSettings {
  /** Policies to override, as `NAME=REASON`. */
  readonly override?: readonly string[] | undefined
}

export interface ReviewContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether there is a base. If so, overrides may also name policies of the base, which is read later. */
  readonly hasBase?: boolean
}

/** @throws {EspalierError} `E_OVERRIDE` */
export const withReview = async (
  manifests: Manifests,
  { override = [] }: ReviewSettings,
  { env, hasBase = false }: ReviewContext,
): Promise<Manifests> => {
  const overrides = parseOverrides(override)
  const reviewed: Manifests = {
    ...manifests,
    review: {
      ...manifests.review,
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
