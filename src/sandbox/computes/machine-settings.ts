/** Postgres settings that affect the machine rather than the database. Clients are not allowed to set them. */

/** Settings that run programs, load libraries, open files or sockets, or set permissions. */
const MACHINE_SETTINGS = [
  /^include/,
  /_(command|library|libraries|path|director(y|ies)|destdir|dir|file|keyfile|filename|conninfo|provider)$/,
  /^(ssl|unix_socket_.*|listen_addresses|port|bonjour.*|log_destination|logging_collector|log_file_mode)$/,
  /^(syslog_.*|event_source|allow_.*)$/,
  // Code that runs when a session starts, in languages that can access the machine.
  /^pl(perl|python|tcl)\w*\./,
]

/** Names of settings are case-insensitive. */
export const isMachineSetting = (setting: string): boolean =>
  MACHINE_SETTINGS.some((names) => names.test(setting.toLowerCase()))
