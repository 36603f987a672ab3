/** Settings of Postgres that belong to the machine and not to the database: no client may name them. */

/** Programs that Postgres runs, libraries that it loads, files and sockets that it opens, and who may open them. */
const OF_THE_MACHINE = [
  /^include/,
  /_(command|library|libraries|path|director(y|ies)|destdir|dir|file|keyfile|filename|conninfo|provider)$/,
  /^(ssl|unix_socket_.*|listen_addresses|port|bonjour.*|log_destination|logging_collector|log_file_mode)$/,
  /^(syslog_.*|event_source|allow_.*)$/,
  // Code of languages that reach the machine, run as a session starts.
  /^pl(perl|python|tcl)\w*\./,
]

/** Names of settings are the same in upper and lower case. */
export const isOfTheMachine = (setting: string): boolean =>
  OF_THE_MACHINE.some((names) => names.test(setting.toLowerCase()))
