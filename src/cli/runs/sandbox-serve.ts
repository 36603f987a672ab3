import { EXIT, type ExitCode } from '../../model/index.ts'
import { readSeed, startSandbox } from '../../sandbox/index.ts'
import { seedLeftOut } from '../connect.ts'
import { checkNumber } from '../flags.ts'
import { print } from '../terminal.ts'

export interface ServeFlags {
  readonly port: number
  readonly state?: string | undefined
  readonly seed?: string | undefined
  readonly timeScale?: number | undefined
  readonly key?: string | undefined
}

/** Serves until a signal, or until nobody reads its output any more. */
export const runSandboxServe = async (flags: ServeFlags): Promise<ExitCode> => {
  checkNumber('port', flags.port, 0)
  checkNumber('time-scale', flags.timeScale, 0.001, false)
  // The first two lines say where it listens; what is logged before that waits.
  const early: string[] = []
  let log = (line: string): void => void early.push(line)
  const sandbox = await startSandbox({
    port: flags.port,
    ...(flags.state === undefined ? {} : { stateDir: flags.state }),
    ...(flags.seed === undefined ? {} : { seed: await readSeed(flags.seed) }),
    ...(flags.timeScale === undefined ? {} : { timeScale: flags.timeScale }),
    ...(flags.key === undefined ? {} : { apiKey: flags.key }),
    log: (line) => log(line),
  })
  print(`API  ${sandbox.apiUrl}`)
  print(`Key  ${sandbox.apiKey}`)
  if (sandbox.seedLeftOut) print(seedLeftOut(flags.state ?? ''), process.stderr)
  log = (line) => print(line)
  for (const line of early) log(line)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
    process.stdout.once('error', resolve)
  })
  await sandbox.close()
  return EXIT.ok
}
