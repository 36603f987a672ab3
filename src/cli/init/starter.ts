/** A manifest that manages nothing yet, with a commented example. */
import { stringify } from 'yaml'

/** @param schema path or URL of the schema. */
export const starter = (project: string, schema: string): string => `# yaml-language-server: $schema=${schema}
# The computes of each branch of this project. What is not listed here is not managed.
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
