export * from './errors.ts'
export * from './escape.ts'
export * from './git.ts'
export * from './group-by.ts'
