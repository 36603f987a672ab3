import type { Desired, SizeTable } from '../model/index.ts'

export interface PlanOptions {
  readonly sizeTable?: SizeTable
  /**
   * Another version of the manifests (the git base) whose word counts as well: what it protects stays protected, what it
   * does not prune is not pruned, and its restart windows are kept to. Where these manifests are weaker is a warning each.
   */
  readonly guard?: Desired
  /** Id of a compute that was replaced to the id of its successor. */
  readonly pinAliases?: Readonly<Record<string, string>>
}
