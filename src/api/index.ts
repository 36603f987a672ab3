export { systemClock } from '../base/index.ts'
export {
  type ApiOptions,
  createReadApi,
  createWriteApi,
  type Mutation,
  type OperationsPage,
  type ReadApi,
  streamOperations,
  type WriteApi,
} from './client.ts'
export { ApiError, optionalRead } from './errors.ts'
export { hasEnded, OperationEnds } from './operation-ends.ts'
export { countReads, type OnReading, type Reading } from './reading.ts'
export type { RequestLimit } from './request-budget.ts'
export type { BeforeAttempt, CallOptions, Turn, Wait } from './requester.ts'
export {
  newestOperations,
  operationMs,
  operationsReader,
  pastOperations,
  projectsNamed,
  type ReadOperations,
  snapshot,
  withOperations,
  withSettlements,
} from './snapshot.ts'
export { checkKey, DEFAULT_BASE_URL, isLoopback, parseBaseUrl, type RequestWatch, VERIFIED } from './transport.ts'
export type { Operation, Project } from './wire.ts'
