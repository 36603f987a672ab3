export * from './changes.ts'
export * from './judge.ts'
export * from './overrides.ts'
export * from './state.ts'
