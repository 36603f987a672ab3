import type { Desired, SizeTable } from '../model/index.ts'

export interface PlanOptions {
  readonly sizeTable?: SizeTable
  /** Another version of the manifests (the git base) whose `protect` and restart windows count as well. */
  readonly guard?: Desired
  /** Id of a compute that was replaced to the id of its successor. */
  readonly pinAliases?: Readonly<Record<string, string>>
}
