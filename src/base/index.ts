export * from './group-by.ts'
export * from './json-schema.ts'
