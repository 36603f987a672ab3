/** What must not be deleted, moved or replaced, whatever the flags. */
import type { Desired, Diagnostic, Observed, ObservedBranch, ObservedProject } from '../model/index.ts'
import { warning } from './diagnostics.ts'
import type { Draft } from './drafts.ts'
import { type ResolvedBranch, resolve } from './resolve.ts'

/** Why each protected branch is: by branch id, the end of a sentence. */
export type Protection = ReadonlyMap<string, string>

/** What another version of the manifests (the git base) says of each branch, by its id; `undefined`: there is none. */
export type Guard = ReadonlyMap<string, ResolvedBranch> | undefined

export const guardOf = (project: ObservedProject, desired: Desired | undefined): Guard => {
  if (desired === undefined) return undefined
  const documents = desired.documents.filter((document) => document.project === project.id)
  return new Map(resolve(project, documents).branches.map((resolved) => [resolved.branch.id, resolved]))
}

export const protectionOf = (branches: readonly ResolvedBranch[], guard: Guard): Protection => {
  const protection = new Map<string, string>()
  for (const { branch, shape } of guard?.values() ?? []) {
    if (shape.protect) protection.set(branch.id, 'the base manifest says `protect: true`')
  }
  for (const { branch, shape, source } of branches) {
    if (shape.protect) protection.set(branch.id, `\`protect: true\` at ${source.file}:${source.line}`)
  }
  return protection
}

/** The draft of a deletion by `prune`, refused where the guard does not prune. */
export const guardPruned = (draft: Draft, { branch }: ResolvedBranch, guard: Guard): Draft =>
  guard === undefined || guard.get(branch.id)?.prune === true
    ? draft
    : refuse(draft, `the base manifest does not prune branch \`${branch.name}\``)

/** A warning for each branch of which `branches` give up a policy that the base has. */
export const weakened = (project: string, branches: readonly ResolvedBranch[], guard: Guard): readonly Diagnostic[] => {
  if (guard === undefined) return []
  const now = new Map(branches.map((resolved) => [resolved.branch.id, resolved]))
  const hint = 'The base counts here. After the merge it does not any more.'
  const named = (branch: ObservedBranch): string => `Branch \`${branch.name}\` of project \`${project}\``
  return [
    ...[...guard.values()].flatMap(({ branch, shape }) => {
      const own = now.get(branch.id)
      if (!shape.protect || own?.shape.protect === true) return []
      return [warning('W_GUARD_WEAKENED', `${named(branch)} is no longer protected.`, hint, own?.source)]
    }),
    ...branches.flatMap(({ branch, prune, source }) =>
      prune && guard.get(branch.id)?.prune !== true
        ? [warning('W_GUARD_WEAKENED', `${named(branch)} is now pruned.`, hint, source)]
        : [],
    ),
  ]
}

/** What {@link weakened} says of every observed project, those included that `head` no longer declares. */
export const policyRemovals = (base: Desired, head: Desired, { projects }: Observed): readonly Diagnostic[] =>
  projects.flatMap((project) => {
    const documents = head.documents.filter((document) => document.project === project.id)
    return weakened(project.id, resolve(project, documents).branches, guardOf(project, base))
  })

/** The draft, marked where a protection stands against it. */
export const guardDraft = (
  draft: Draft,
  branches: ReadonlyMap<string, ObservedBranch>,
  protection: Protection,
): Draft => {
  const refused = refusal(draft, branches, protection)
  return refused === undefined ? draft : refuse(draft, refused)
}

/** @param refused the end of a sentence. */
export const refuse = (draft: Draft, refused: string): Draft => ({
  change: { ...draft.change, refused },
  steps: draft.steps.map((one) => ({ ...one, step: { ...one.step, refused } })),
})

const refusal = (
  { change, steps }: Draft,
  branches: ReadonlyMap<string, ObservedBranch>,
  protection: Protection,
): string | undefined => {
  if (change.kind === 'create' || change.kind === 'update') return undefined
  const verb = { delete: 'deleted', move: 'moved', replace: 'replaced' }[change.kind]
  const ends = [change.from, ...steps.map(({ step }) => step.branch)].filter((end) => end !== undefined)
  for (const { id, name } of ends) {
    const why = protection.get(id)
    if (why !== undefined) return `branch \`${name}\` is protected (${why}): nothing on it may be ${verb}`
  }
  // The service forbids deleting computes of its protected branches; it says nothing of moving or making them.
  const shielded = steps.find(({ step }) => step.kind === 'delete' && branches.get(step.branch.id)?.isProtected)
  return shielded && serviceProtects(shielded.step.branch.name, verb)
}

export const serviceProtects = (branch: string, verb: string): string =>
  `the service protects branch \`${branch}\`: its computes cannot be ${verb}`
