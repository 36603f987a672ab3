/** The service's official command-line tool, two major versions of it, run as processes against the sandbox. */
import { spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/index.ts'

const PROJECT = 'quiet-river-12345678'
const ENDPOINT = `/projects/${PROJECT}/endpoints/ep-calm-lake-a0000001`

const open = async (program: string) => {
  const sandbox = await startSandbox({
    timeScale: 1_000,
    background: false,
    seed: {
      projects: [
        {
          id: PROJECT,
          name: 'shop',
          operations: 3,
          branches: [
            {
              id: 'br-calm-lake-a0000001',
              name: 'main',
              computes: [{ id: 'ep-calm-lake-a0000001', size: 1, scaleToZero: 'never' }],
            },
          ],
        },
      ],
    },
  })
  onTestFinished(() => sandbox.close())
  const folder = await mkdtemp(join(tmpdir(), 'espalier-cli-'))
  const run = async (line: string, ...more: readonly string[]) => {
    const common = ['--api-host', sandbox.apiUrl, '--api-key', sandbox.apiKey, '--no-analytics', '--config-dir', folder]
    const child = spawn(process.execPath, [program, ...line.split(' '), ...more, ...common, '-o', 'json'], {
      cwd: folder,
      // Nothing of it may reach anything but the sandbox.
      env: { PATH: process.env.PATH, HOME: folder, CI: '1', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
      })
    }
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code, `${line}\n${output.stdout}${output.stderr}`).toBe(0)
    return output.stdout.trim() === '' ? undefined : JSON.parse(output.stdout)
  }
  return { sandbox, run, folder }
}

test.each([
  ['neonctl 5.0.1', 'node_modules/neonctl/bin/cli.js'],
  ['neon 6.2.3', 'node_modules/neon/dist/cli.js'],
])('%s', { timeout: 90_000 }, async (_version, program) => {
  const { run, folder, sandbox } = await open(join(process.cwd(), program))
  const inProject = `--project-id ${PROJECT}`
  expect(await run('me')).toMatchObject({ login: 'sandbox' })
  expect((await run('projects list')).projects).toMatchObject([{ id: PROJECT, name: 'shop' }])
  expect(await run(`projects get ${PROJECT}`)).toMatchObject({ id: PROJECT })
  expect(await run(`projects update ${PROJECT} --cu 0.5-2`)).toMatchObject({
    default_endpoint_settings: { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 2 },
  })
  expect(await run(`branches create --name dev --cu 1 --suspend-timeout 300 ${inProject}`)).toMatchObject({
    branch: { name: 'dev' },
    endpoints: [{ autoscaling_limit_min_cu: 1, suspend_timeout_seconds: 300 }],
  })
  expect(await run(`branches list ${inProject}`)).toHaveLength(2)
  expect(await run(`branches get dev ${inProject}`)).toMatchObject({ name: 'dev' })
  expect(await run(`branches add-compute dev --type read_only --cu 0.25-2 ${inProject}`)).toMatchObject({
    type: 'read_only',
    autoscaling_limit_max_cu: 2,
  })
  expect(await run(`branches rename dev development ${inProject}`)).toMatchObject({ name: 'development' })
  expect(await run(`branches set-default development ${inProject}`)).toMatchObject({ default: true })
  expect(await run(`branches set-default main ${inProject}`)).toMatchObject({ default: true })
  expect((await run(`operations list ${inProject}`)).length).toBeGreaterThan(4)

  expect(await run(`api ${ENDPOINT}`)).toMatchObject({ endpoint: { current_state: 'active' } })
  const patched = await run(`api ${ENDPOINT} -X PATCH -F endpoint.autoscaling_limit_max_cu=2`)
  expect(patched.operations).toMatchObject([{ action: 'apply_config' }])
  await ended(sandbox, patched.operations)
  for (const command of ['restart', 'suspend', 'start']) {
    const { operations } = await run(`api ${ENDPOINT}/${command} -X POST`)
    expect(operations).not.toHaveLength(0)
    await ended(sandbox, operations)
  }
  await ended(sandbox, (await run(`api ${ENDPOINT} -X DELETE`)).operations)
  expect((await run(`api /projects/${PROJECT}/endpoints`)).endpoints).toHaveLength(2)

  expect(await run(`config status --branch development ${inProject}`)).toMatchObject({
    branch: { name: 'development' },
  })
  await writeFile(
    join(folder, 'neon.mjs'),
    `export default { branch: () => ({ postgres: { computeSettings: { autoscalingLimitMinCu: 2, autoscalingLimitMaxCu: 2 } } }) }\n`,
  )
  const planned = await run(`config plan --branch development ${inProject}`, '--config', join(folder, 'neon.mjs'))
  expect(JSON.stringify(planned)).toContain('autoscaling')

  expect(await run(`branches delete development ${inProject}`)).toMatchObject({ name: 'development' })
  const { project } = await run('projects create --name fresh')
  expect(project).toMatchObject({ name: 'fresh' })
  expect(await run(`projects delete ${project.id}`)).toMatchObject({ id: project.id })
})

const ended = async (
  { apiUrl, apiKey }: { readonly apiUrl: string; readonly apiKey: string },
  operations: readonly { readonly id: string }[],
): Promise<void> => {
  for (const { id } of operations) {
    await expect
      .poll(async () => {
        const answer = await fetch(`${apiUrl}/projects/${PROJECT}/operations/${id}`, {
          headers: { authorization: `Bearer ${apiKey}` },
        })
        return ((await answer.json()) as { operation: { status: string } }).operation.status
      })
      .toBe('finished')
  }
}
