import { type Operation, OperationEnds, type ReadApi } from '../api/index.ts'
import type { Clock } from '../base/index.ts'
import { EspalierError } from '../model/index.ts'

const POLL_MS = 1_000

/**
 * @param options `deadline` is in milliseconds of the clock. `onRead` is called each time the operation is read.
 * @throws {EspalierError} `E_TIMEOUT` if the operation has not ended by the deadline.
 */
export const waitForOperation = async (options: {
  readonly api: Pick<ReadApi, 'getOperation'>
  readonly clock: Clock
  readonly project: string
  readonly id: string
  readonly deadline: number
  readonly onRead?: (operation: Operation) => void
}): Promise<{ readonly operation: Operation; readonly end: 'good' | 'bad' }> => {
  const { api, clock, project, id, deadline, onRead } = options
  const ends = new OperationEnds(clock)
  for (;;) {
    const operation = await api.getOperation(project, id)
    onRead?.(operation)
    const end = ends.see(operation)
    if (end !== undefined) return { operation, end }
    if (clock.now() >= deadline) {
      throw new EspalierError('E_TIMEOUT', `The operation ${id} is still ${operation.status}.`, {
        hint: 'It continues on the service. To keep waiting, run the command again with a longer --timeout.',
      })
    }
    await clock.sleep(Math.min(POLL_MS, Math.max(1, deadline - clock.now())))
  }
}
