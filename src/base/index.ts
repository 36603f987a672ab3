export * from './canonical-json.ts'
export * from './differences.ts'
export * from './group-by.ts'
export * from './once-each.ts'
