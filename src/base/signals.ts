/** Calls `handle` at each such signal; what it returns ends that. */
export type OnSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGCONT', handle: () => void) => () => void

/** The signals that the process is sent. */
export const onProcessSignal: OnSignal = (signal, handle) => {
  process.on(signal, handle)
  return () => void process.off(signal, handle)
}
