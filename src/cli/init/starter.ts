/** A manifest that manages nothing yet, and shows what it could say. */
import { stringify } from 'yaml'

/** @param schema where the schema is, from the file on. */
export const starter = (project: string, schema: string): string => `# yaml-language-server: $schema=${schema}
# Which computes each branch of this project should have. What is left out is not managed.
version: 1
${stringify({ project }).trimEnd()}

# defaults:
#   scaleToZero: 5m
#
# branches:
#   main:
#     protect: true # nothing on it is deleted, moved or replaced
#     primary:
#       size: { min: 1, max: 4 }
#     replicas:
#       reporting: {}
#
# rules: # for branches that come and go
#   - match: preview/*
#     primary:
#       size: 0.25
`
