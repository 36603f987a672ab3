import type { Change, Desired, Diagnostic, ObservedProject, SizeTable, Step } from '../model/index.ts'

export interface PlanOptions {
  readonly sizeTable?: SizeTable
  /** Further checks of a project's plan; an error leaves the project out. */
  readonly check?: (
    project: ObservedProject,
    planned: { readonly changes: readonly Change[]; readonly steps: readonly Step[] },
  ) => readonly Diagnostic[]
  /**
   * Another version of the manifests (the git base) whose word counts as well: what it protects stays protected, what it
   * does not prune is not pruned, and its restart windows are kept to. Where these manifests are weaker is a warning each.
   */
  readonly guard?: Desired
  /** Id of a compute that was replaced to the id of its successor. */
  readonly pinAliases?: Readonly<Record<string, string>>
}
