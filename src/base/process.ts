/** Processes: signals, and what child processes may know. */

/** Whether a process is running, even if it belongs to another user. */
export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Calls `handle` for each signal. Returns a function that removes the handler. */
export type OnSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGCONT', handle: () => void) => () => void

/** Signals of this process. */
export const onProcessSignal: OnSignal = (signal, handle) => {
  process.on(signal, handle)
  return () => void process.off(signal, handle)
}

// The environment for child processes: that of this process without secrets.

const SECRETS = new Set(['ESPALIER_API_KEY', 'NEON_API_KEY'])
/** Inputs of the Action. Two of them are keys. */
const INPUT = /^INPUT_/i

export const withoutSecrets = (env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.has(name.toUpperCase()) && !INPUT.test(name)))
