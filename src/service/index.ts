export * from './check-project.ts'
export * from './maintenance.ts'
export * from './tier-checks.ts'
