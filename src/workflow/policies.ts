/** Reads the policies, and decides which of them apply. */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { defined, EspalierError } from '../base/index.ts'
import { declaredPolicies, type LoadedManifests, lineReader, parsePolicies, readFiles } from '../manifest/index.ts'
import {
  type Desired,
  type Diagnostic,
  type ObservedProject,
  type Policy,
  policyRuleText,
  type Released,
  sourceText,
  startOfFile,
} from '../model/index.ts'
import { concernsProject } from '../policy/index.ts'

/** The names of the policy files that are read by default. */
export const POLICY_FILES = ['espalier.policy.yaml', 'espalier.policy.yml'] as const

export interface Policies {
  /** The paths of the policy files, for messages. */
  readonly files: readonly string[]
  /** The first error. If there is one, `policies` is incomplete and must not be used to plan. */
  readonly mistake?: Diagnostic
  readonly policies: readonly Policy[]
}

export const NO_POLICIES: Policies = { files: [], policies: [] }

/** Reads the policies in the folder's policy files, in the files that the user named, and in manifests. */
export const readPolicies = async (
  cwd: string,
  named: readonly string[],
  desired: Desired,
): Promise<Policies & Pick<LoadedManifests, 'diagnostics' | 'lineOf'>> => {
  // A broken link counts as a file. It must cause an error, and must not be treated as if there were no policies.
  const isThere = (file: string): Promise<boolean> => lstat(join(cwd, file)).then(Boolean, () => false)
  const areThere = await Promise.all(POLICY_FILES.map(isThere))
  const paths = [...new Set([...POLICY_FILES.filter((_, index) => areThere[index]), ...named])]
  const { texts, diagnostics } = await readFiles(paths, cwd)
  const declared = declaredPolicies(desired)
  const read = parsePolicies(texts, declared)
  const all = [...diagnostics, ...read.diagnostics]
  const mistake = all.find(({ severity }) => severity === 'error')
  return {
    ...defined({ mistake }),
    files: [...new Set([...texts.map(({ path }) => path), ...declared.map(({ source }) => source.file)])],
    policies: read.policies,
    diagnostics: all,
    lineOf: lineReader(new Map(texts.map(({ path, text }) => [path, text]))),
  }
}

/** The policies for a project that its manifests no longer have. */
export const releasedPolicies = (
  before: Policies | undefined,
  after: Policies | undefined,
  { id, name }: Pick<ObservedProject, 'id' | 'name'>,
): readonly Released[] => {
  const kept = new Set(after?.policies.map((policy) => policy.name))
  return (before?.policies ?? [])
    .filter((policy) => !kept.has(policy.name) && concernsProject(policy, id, name))
    .map((policy) => ({
      kind: 'safeguard',
      project: id,
      branch: { name: policy.branches?.join(', ') ?? '**' },
      safeguard: 'policy',
      before: `${policy.name}: ${policyRuleText(policy.rule)}`,
      after: 'removed',
    }))
}

const warnOnly = ({ files, policies }: Policies): Policies => ({
  files,
  policies: policies.map((policy) => ({ ...policy, level: 'warn' })),
})

interface Base {
  readonly review?: { readonly policies?: Policies | undefined } | undefined
}

/**
 * The policies that apply: with a base, those of the base, so that a pull request cannot relax them for itself. If the
 * base has none, policies that the pull request adds cause only warnings.
 *
 * @param isUntrusted whether the policies that the pull request adds do not even warn.
 * @throws {EspalierError} `E_BASE` if the base's policies cannot be read.
 */
export const appliedPolicies = (
  own: Policies | undefined,
  base: Base | undefined,
  isUntrusted = false,
): Policies | undefined => {
  if (base === undefined) return own
  requirePolicies(base)
  const policies = base.review?.policies
  // A policy file may be empty.
  if (policies !== undefined && policies.policies.length > 0) return withoutDaily(policies)
  return isUntrusted ? NO_POLICIES : own && warnOnly(own)
}

/** Leaves out limits on a day. Those of an earlier commit are not checked, because only the agent has a memory. */
export const withoutDaily = <T extends Policies>(all: T): T => ({
  ...all,
  policies: all.policies.filter(({ per }) => per === undefined),
})

/**
 * Refuses to plan if the base's policies cannot be read, because it would be unknown what they deny.
 *
 * @throws {EspalierError} `E_BASE`
 */
export const requirePolicies = (base: Base | undefined): void => {
  const mistake = base?.review?.policies?.mistake
  if (mistake === undefined) return
  throw new EspalierError(
    'E_BASE',
    `The base's policies have an error: ${sourceText(mistake.source ?? startOfFile(POLICY_FILES[0]))}: ${mistake.message}`,
    { hint: 'Fix them on the base branch first.' },
  )
}
