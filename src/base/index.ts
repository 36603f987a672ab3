export * from './group-by.ts'
export * from './nearest.ts'
