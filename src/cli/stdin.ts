/** How `-` is passed on to the commands: yargs takes a lone hyphen for an option without a name. */
export const STDIN = '<stdin>'
