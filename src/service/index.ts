export * from './maintenance.ts'
export * from './tier-checks.ts'
