/** The positional of all commands that read manifests. */
export const PATHS = {
  paths: {
    describe: 'Files, directories, globs, or - for stdin (default: espalier.yaml, else espalier/)',
    array: true,
  },
} as const
