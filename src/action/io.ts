/** Everything through which the Action touches the outside world. Only main.ts uses `process`. */
import type { OnSignal } from '../base/index.ts'
import type { Clock } from '../model/index.ts'
import type { Environment } from './inputs.ts'

export interface ActionIo {
  readonly env: Environment
  /** The folder of the step, absolute. */
  readonly cwd: string
  /** Writes to the step's log. */
  readonly write: (text: string) => void
  readonly clock: Required<Clock>
  readonly onSignal: OnSignal
}
