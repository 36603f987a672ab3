export * from './group-by.ts'
export * from './issue-text.ts'
