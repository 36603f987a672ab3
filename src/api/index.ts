export { systemClock } from '../base/index.ts'
export {
  type ApiOptions,
  createReadApi,
  createWriteApi,
  type Mutation,
  type OperationsPage,
  type ReadApi,
  type WriteApi,
} from './client.ts'
export { ApiError, optionalRead } from './errors.ts'
export { hasEnded, OperationEnds } from './operation-ends.ts'
export { streamOperations } from './operations-stream.ts'
export { countReads, type OnReading, type Reading } from './reading.ts'
export type { RequestLimit } from './request-budget.ts'
export type { BeforeAttempt, CallOptions, Turn, Wait } from './requester.ts'
export { operationMs, pastOperations, projectsNamed, snapshot } from './snapshot.ts'
export type { RequestWatch } from './transport.ts'
export { checkKey, DEFAULT_BASE_URL, isLoopback, VERIFIED } from './trust.ts'
export type { Operation, Project } from './wire.ts'
