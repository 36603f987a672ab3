export * from './group-by.ts'
export * from './map-concurrently.ts'
