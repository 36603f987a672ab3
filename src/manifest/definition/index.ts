export * from './manifest.ts'
