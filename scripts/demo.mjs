// Shows the basic workflow in a sandbox: plan, apply, plan again. Exits with the exit code of the first command that
// fails.
import { MANIFEST, startDemoSandbox } from './demo-sandbox.mjs'

const { run, stop } = await startDemoSandbox('--computes', 'simulated')
try {
  process.exitCode =
    (await run('plan', MANIFEST)) ||
    (await run('apply', MANIFEST, '--auto-approve')) ||
    (await run('plan', MANIFEST, '--detailed-exitcode'))
} finally {
  await stop()
}
