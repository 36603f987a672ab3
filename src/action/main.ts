/** The entry point of the GitHub Action. */
import { onProcessSignal, systemClock } from '../base/index.ts'
import { gitLogin } from './git-login.ts'
import { runAction } from './run-action.ts'

const run = async (): Promise<void> => {
  Object.assign(process.env, gitLogin(process.env))
  process.exitCode = await runAction({
    env: process.env,
    cwd: process.cwd(),
    write: (text) => void process.stdout.write(text),
    clock: systemClock,
    onSignal: onProcessSignal,
  })
}

void run()
