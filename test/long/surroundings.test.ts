/** Failures of the machine: its disk, its terminal, its clock. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { espalier, MAIN, ROOT } from '../e2e/espalier.ts'
import { STEPS, type TenStepsOptions, tenSteps } from '../e2e/ten-steps.ts'

const opened = async (options: TenStepsOptions = {}) => {
  const ten = await tenSteps(options)
  onTestFinished(() => ten.close())
  return ten
}

const FULL = '/dev/full'
const noFull = existsSync(FULL) ? '' : `skipped: there is no ${FULL} here`
// promise: no-space
test.skipIf(noFull !== '')(`apply changes nothing if the disk has no space for the journal ${noFull}`, async () => {
  const ten = await opened()
  const { args, env } = ten.command('--journal', FULL)
  const { code, stderr } = await espalier(args, env)
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`The journal ${FULL} cannot be written: ENOSPC.`),
  })
  expect(stderr).toContain('Make room or choose another file with --journal, then run the same command again.')
  expect(stderr).not.toMatch(/\n\s+at /)
  expect(ten.sandbox.control.requests().filter(({ method }) => method !== 'GET')).toEqual([])
  expect(await ten.applyAgain()).toEqual([])
})

/** Mounts a file system, as root or in a user namespace if that is allowed. */
const UNSHARE = ['--map-root-user', '--mount']
const SMALL_DISK = 'mount -t tmpfs -o size="$1" tmpfs "$2" && shift 2 && exec "$@"'
const canMount = (): boolean => {
  try {
    execFileSync('unshare', [...UNSHARE, 'sh', '-c', SMALL_DISK, 'sh', '4k', '/tmp', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const noMount = canMount() ? '' : 'skipped: a small disk cannot be mounted here'
// promise: disk-fills-up
test.skipIf(noMount !== '')(
  `apply sends nothing that it cannot record if the disk fills up, and reports what was done ${noMount}`,
  async () => {
    const ten = await opened()
    const disk = join(ten.folder, 'disk')
    await mkdir(disk)
    // The plan needs seven pages, so that only some steps fit.
    const small = ['unshare', ...UNSHARE, 'sh', '-c', SMALL_DISK, 'sh', '32k', disk]
    const { code, stdout, stderr } = await ten.applyBy(small, '--journal', join(disk, 'journal')).ended
    expect(code, stdout + stderr).toBe(3)
    const said = stdout.replaceAll(/\s+/g, ' ')
    expect(said).toMatch(/The journal \S+ cannot be written: ENOSPC\./)
    const done = Number(/Apply incomplete: (\d+) done/.exec(said)?.[1])
    const sent = ten.sandbox.control.requests().filter(({ method }) => method !== 'GET')
    expect(done).toBeGreaterThan(0)
    expect(done).toBeLessThan(STEPS)
    // The step that was running when the disk filled up may have been sent.
    expect(sent.length - done).toBeLessThanOrEqual(1)
    expect(await ten.applyAgain()).toEqual([])
  },
)

// promise: closed-output
test('apply runs to completion if its output is closed (`| head -n 1`)', async () => {
  const ten = await opened()
  const { args, env } = ten.command()
  const child = spawn('bash', ['-c', 'set -o pipefail; "$@" | head -n 1', 'bash', process.execPath, MAIN, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let noise = ''
  child.stderr.on('data', (text) => {
    noise += text
  })
  child.stdout.resume()
  const [code] = await once(child, 'close')
  expect({ code, noise }).toEqual({ code: 0, noise: '' })
  const sent = ten.sandbox.control.requests().filter(({ method }) => method !== 'GET')
  expect(sent).toHaveLength(STEPS)
  expect(await ten.applyAgain()).toEqual([])
})

// promise: clock-jumps
test('jumps of several hours in the system clock do not affect waits', async () => {
  const preload = pathToFileURL(join(ROOT, 'test/long/jumping-clock.mjs')).href
  const ten = await opened({ env: { NODE_OPTIONS: `--import ${preload}` } })
  const { code, stdout, stderr } = await ten.apply('--timeout', '30s').ended
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).toContain(`Apply complete: ${STEPS} done.`)
  expect(await ten.applyAgain()).toEqual([])
})
