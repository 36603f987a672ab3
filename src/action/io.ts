/** All that the Action touches of the world around it. The process itself is known to main.ts only. */
import type { OnSignal } from '../base/index.ts'
import type { Clock } from '../model/index.ts'
import type { Environment } from './inputs.ts'

export interface ActionIo {
  readonly env: Environment
  /** The folder that the runner starts the step in, absolute. */
  readonly cwd: string
  /** Writes to the step's log. */
  readonly write: (text: string) => void
  readonly clock: Required<Clock>
  readonly onSignal: OnSignal
}
