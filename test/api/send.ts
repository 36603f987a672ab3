import type { CallOptions, WriteApi } from '../../src/api/index.ts'
import type { StepRequest } from '../../src/model/index.ts'

/** Sends a request that nothing has to be checked for. */
export const send = (api: WriteApi, request: StepRequest, options?: CallOptions) =>
  api.sendUnless<never>(request, async () => ({ send: request.body }), options)
