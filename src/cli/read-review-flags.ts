/** The values of the flags by which a plan is reviewed. */
import type { ReviewSettings } from '../workflow/index.ts'

export interface ReviewFlags extends ReviewSettings {
  /** The policies at this git ref count too. */
  readonly base?: string | undefined
  /** Files. */
  readonly policy?: readonly string[] | undefined
}
