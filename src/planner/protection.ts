/** Determines which computes must not be deleted, moved or replaced, whatever flags are given. */
import { type Desired, type Diagnostic, type Observed, type ObservedBranch, warning } from '../model/index.ts'
import { declarationsOf } from './declarations.ts'
import type { Draft } from './drafts.ts'
import { type ManifestPolicy, manifestPolicyOf } from './manifest-policy.ts'

/** Maps the id of each protected branch to the reason, phrased as the end of a sentence. */
export type Protection = ReadonlyMap<string, string>

export const protectionOf = (head: ManifestPolicy, base?: ManifestPolicy): Protection => {
  const protectedBy = (policy: ManifestPolicy | undefined) =>
    [...(policy?.branches.values() ?? [])].filter(({ shape }) => shape.protect)
  return new Map([
    ...protectedBy(base).map(({ branch }) => [branch.id, 'the base manifest says `protect: true`'] as const),
    ...protectedBy(head).map(
      ({ branch, source }) => [branch.id, `\`protect: true\` at ${source.file}:${source.line}`] as const,
    ),
  ])
}

/** Warns about each protection that the head's manifests remove, and about each branch that they newly prune. */
export const removedPolicies = (project: string, head: ManifestPolicy, base: ManifestPolicy): readonly Diagnostic[] => {
  const removed = (branch: ObservedBranch, what: string): Diagnostic =>
    warning(
      'W_POLICY_REMOVED',
      `Branch \`${branch.name}\` of project \`${project}\` is ${what}.`,
      'The policy of the base manifests still applies to this plan, but not after the merge.',
      head.branches.get(branch.id)?.source,
    )
  return [
    ...[...base.branches.values()]
      .filter(({ branch, shape }) => shape.protect && head.branches.get(branch.id)?.shape.protect !== true)
      .map(({ branch }) => removed(branch, 'no longer protected')),
    ...[...head.branches.values()]
      .filter(({ branch, prune }) => prune && base.branches.get(branch.id)?.prune !== true)
      .map(({ branch }) => removed(branch, 'now pruned')),
  ]
}

/** {@link removedPolicies} of every observed project, including projects that `head` no longer declares. */
export const policyRemovals = (base: Desired, head: Desired, { projects }: Observed): readonly Diagnostic[] =>
  projects.flatMap((project) => {
    const policyIn = (desired: Desired) => manifestPolicyOf(declarationsOf(desired, project))
    return removedPolicies(project.id, policyIn(head), policyIn(base))
  })

/** @param why phrased as the end of a sentence. */
export const refuse = (draft: Draft, why: string | undefined): Draft =>
  why === undefined || draft.change.refused !== undefined
    ? draft
    : {
        ...draft,
        change: { ...draft.change, refused: why },
        steps: draft.steps.map((one) => ({ ...one, step: { ...one.step, refused: why } })),
      }

/** Why the draft must not run; `undefined` if it may. */
export const protectionAgainst = (
  { change, steps }: Draft,
  branches: ReadonlyMap<string, ObservedBranch>,
  protection: Protection,
): string | undefined => {
  if (change.kind === 'create' || change.kind === 'update') return undefined
  const verb = { delete: 'deleted', move: 'moved', replace: 'replaced' }[change.kind]
  const ends = [...(change.from === undefined ? [] : [change.from]), ...steps.map(({ step }) => step.branch)]
  for (const { id, name } of ends) {
    const why = protection.get(id)
    if (why !== undefined) return `branch \`${name}\` is protected (${why}): nothing on it may be ${verb}`
  }
  // The service forbids deleting computes of protected branches; it allows moving and creating them.
  const shielded = steps.find(({ step }) => step.kind === 'delete' && branches.get(step.branch.id)?.isProtected)
  return shielded && protectedByService(shielded.step.branch.name, verb)
}

export const protectedByService = (branch: string, verb: string): string =>
  `the service protects branch \`${branch}\`: its computes cannot be ${verb}`
