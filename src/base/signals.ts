/** Calls `handle` for each signal. Returns a function that removes the handler. */
export type OnSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGCONT', handle: () => void) => () => void

/** Signals of this process. */
export const onProcessSignal: OnSignal = (signal, handle) => {
  process.on(signal, handle)
  return () => void process.off(signal, handle)
}
