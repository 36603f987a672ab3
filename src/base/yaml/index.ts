/** Separate from the index of base, so that only those who read YAML load the library. */
export * from './documents.ts'
export * from './nodes.ts'
export * from './yaml-file.ts'
