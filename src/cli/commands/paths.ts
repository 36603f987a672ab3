/** The positional that commands which read manifests share. */
export const PATHS = {
  paths: {
    describe: 'Files, directories, globs, or - for stdin (default: espalier.yaml, else espalier/)',
    array: true,
  },
} as const
