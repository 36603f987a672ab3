/** `verbose` gives each error the schema that refused, from which its words are read. */
export const AJV_OPTIONS = { allErrors: true, verbose: true, inlineRefs: false } as const
