/** Skips changes that are not worth making on branches that expire soon, and warns about expiry in other cases. */
import { defined } from '../base/index.ts'
import {
  type Change,
  type Diagnostic,
  type ExpiringChange,
  expiryReason,
  expiryWords,
  type ObservedProject,
  type SkippedChange,
  warning,
} from '../model/index.ts'
import type { Declarations } from './declarations.ts'
import type { Draft } from './drafts.ts'
import { chainsOf, chainWords } from './primary-slots.ts'

export interface WithoutExpiring {
  readonly drafts: readonly Draft[]
  readonly skipped: readonly SkippedChange[]
}

/** @param now milliseconds since the epoch. */
export const withoutExpiring = (
  all: readonly Draft[],
  { branches: live }: ObservedProject,
  { branches }: Declarations,
  now: number,
): WithoutExpiring => {
  const resolved = new Map(branches.map((one) => [one.branch.id, one]))
  const byId = new Map(live.map((branch) => [branch.id, branch]))
  const reasons = new Map<string, string>()
  for (const { change } of all) {
    const branch = byId.get(change.branch.id)
    const skipSeconds = resolved.get(change.branch.id)?.skipExpiring
    const interrupts = change.impact !== 'none' || change.unlessIdle !== undefined
    const reason = branch && expiryReason(branch, { interrupts, now, ...defined({ skipSeconds }) })
    if (reason !== undefined) reasons.set(change.id, reason)
  }
  for (const chain of chainsOf(all)) {
    const skipped = chain.find(({ change }) => reasons.has(change.id))?.change
    if (skipped === undefined) continue
    const why = `it runs only together with ${chainWords(skipped)}, which is skipped`
    for (const { change } of chain) if (!reasons.has(change.id)) reasons.set(change.id, why)
  }
  return {
    drafts: all.filter(({ change }) => !reasons.has(change.id)),
    skipped: all
      .filter(({ change }) => reasons.has(change.id))
      .map(({ change: { id, kind, project, branch, compute } }) => ({
        change: id,
        kind,
        project,
        branch,
        compute,
        sentence: reasons.get(id) ?? '',
      }))
      .sort((a, b) => (a.change < b.change ? -1 : 1)),
  }
}

/** The changes on branches that expire, each with the time when the service will delete the branch. */
export const expiringChanges = (
  changes: readonly Change[],
  { branches }: ObservedProject,
  now: number,
): readonly ExpiringChange[] => {
  const byId = new Map(branches.map((branch) => [branch.id, branch]))
  return changes.flatMap(({ id, project, branch: { id: branchId } }): readonly ExpiringChange[] => {
    const branch = byId.get(branchId)
    const sentence = branch && expiryWords(branch, now)
    return branch?.expiresAt === undefined || sentence === undefined
      ? []
      : [{ change: id, project, expiresAt: branch.expiresAt, sentence }]
  })
}

export const expiryWarnings = (
  changes: readonly Change[],
  { id: project, branches: live }: ObservedProject,
  { branches }: Declarations,
): readonly Diagnostic[] => {
  const expiring = new Set(live.flatMap(({ id, expiresAt }) => (expiresAt === undefined ? [] : [id])))
  return [
    ...changes
      .filter(({ kind, branch }) => kind === 'move' && expiring.has(branch.id))
      .map(({ compute, branch, source }) => {
        const message = `${compute.id} of project \`${project}\` moves to branch \`${branch.name}\`, which expires. The compute will be deleted with the branch.`
        const hint = "Move it to a branch that does not expire, or remove the branch's expiry."
        return warning('W_EXPIRING', message, hint, source)
      }),
    ...branches
      .filter(({ branch, shape }) => shape.protect && expiring.has(branch.id))
      .map(({ branch, shape, source }) => {
        const message = `The service will delete branch \`${branch.name}\` of project \`${project}\` when it expires, despite \`protect: true\`.`
        const hint = "Remove the branch's expiry or `protect`."
        return warning('W_EXPIRING', message, hint, shape.protectSource ?? source)
      }),
  ]
}
