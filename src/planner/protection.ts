/** What must not be deleted, moved or replaced, whatever the flags. */
import type { Desired, ObservedBranch, ObservedProject } from '../model/index.ts'
import type { Draft } from './drafts.ts'
import { type ResolvedBranch, resolve } from './resolve.ts'

/** Why each protected branch is: by branch id, the end of a sentence. */
export type Protection = ReadonlyMap<string, string>

/** `guard` is another version of the manifests (the git base), whose protection counts as well. */
export const protectionOf = (
  project: ObservedProject,
  branches: readonly ResolvedBranch[],
  guard: Desired | undefined,
): Protection => {
  const guarded = guard?.documents.filter((document) => document.project === project.id) ?? []
  const protection = new Map<string, string>()
  for (const { branch, shape } of guarded.length > 0 ? resolve(project, guarded).branches : []) {
    if (shape.protect) protection.set(branch.id, 'the base manifest says `protect: true`')
  }
  for (const { branch, shape, source } of branches) {
    if (shape.protect) protection.set(branch.id, `\`protect: true\` at ${source.file}:${source.line}`)
  }
  return protection
}

/** The draft, marked where a protection stands against it. */
export const guardDraft = (
  draft: Draft,
  branches: ReadonlyMap<string, ObservedBranch>,
  protection: Protection,
): Draft => {
  const refused = refusal(draft, branches, protection)
  if (refused === undefined) return draft
  return {
    change: { ...draft.change, refused },
    steps: draft.steps.map((one) => ({ ...one, step: { ...one.step, refused } })),
  }
}

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
  return shielded && `the service protects branch \`${shielded.step.branch.name}\`: its computes cannot be ${verb}`
}
