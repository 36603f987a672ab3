import { expect, test } from 'vitest'
import { readCommandLine } from '../../src/cli/command-line.ts'

test('given and default durations are converted to milliseconds', async () => {
  const { values } = await readCommandLine(['agent', 'run', '--timeout', '1m30s'])
  expect(values).toMatchObject({ timeout: 90_000, interval: 300_000 })
})

test.each(['10', '0s', 'soon'])('the duration %j is rejected, and the message names the flag', async (text) => {
  await expect(readCommandLine(['apply', '--timeout', text])).rejects.toThrow(
    `--timeout ${text} is not a valid duration.`,
  )
})

test.each([
  ['apply --max-restarts many', '--max-restarts must be a whole number of at least 0.'],
  ['apply --max-restarts -1', '--max-restarts must be a whole number of at least 0.'],
  ['apply --max-restarts 1.5', '--max-restarts must be a whole number of at least 0.'],
  ['operations list --limit -1', '--limit must be a whole number of at least 0.'],
  ['sandbox serve --time-scale Infinity', '--time-scale must be a number of at least 0.001.'],
  ['sandbox serve --port -1', '--port must be a whole number from 0 to 65535.'],
  ['sandbox serve --pg-port 65536', '--pg-port must be a whole number from 0 to 65535.'],
])('espalier %s is rejected: %s', async (line, message) => {
  await expect(readCommandLine(line.split(' '))).rejects.toThrow(expect.objectContaining({ code: 'E_USAGE', message }))
})

test.each(['operations watch --limit 3', 'operations get ID --since 1h'])(
  'espalier %s is rejected, because the flag would have no effect',
  async (line) => {
    await expect(readCommandLine(line.split(' '))).rejects.toThrow(/(There is|has) no flag --(limit|since)/)
  },
)

test.each(['apply --max-restarts 0', 'sandbox serve --port 0 --pg-port 65535 --time-scale 0.5'])(
  'espalier %s is accepted',
  async (line) => {
    await expect(readCommandLine(line.split(' '))).resolves.toBeDefined()
  },
)
