import { expect, test } from 'vitest'
import { readCommandLine } from '../../src/cli/command-line.ts'

test('given and default durations are converted to milliseconds', () => {
  const { values } = readCommandLine(['apply', '--operation-timeout', '1m30s'])
  expect(values).toMatchObject({ operationTimeout: 90_000, lockTimeout: 600_000 })
})

test.each(['10', '0s', 'soon'])('the duration %j is rejected, and the message names the flag', (text) => {
  expect(() => readCommandLine(['apply', '--lock-timeout', text])).toThrow(
    `--lock-timeout ${text} is not a valid duration.`,
  )
})

test.each([
  ['apply --max-restarts many', '--max-restarts must be a whole number of at least 0.'],
  ['apply --max-restarts -1', '--max-restarts must be a whole number of at least 0.'],
  ['apply --max-restarts 1.5', '--max-restarts must be a whole number of at least 0.'],
  ['apply --max-cu-increase -1', '--max-cu-increase must be a number of at least 0.'],
  ['plan --concurrency 0', '--concurrency must be a whole number of at least 1.'],
  ['operations list --limit 0', '--limit must be a whole number of at least 1.'],
  ['sandbox serve --time-scale Infinity', '--time-scale must be a number of at least 0.001.'],
  ['sandbox serve --port -1', '--port must be a whole number from 0 to 65535.'],
  ['sandbox serve --pg-port 65536', '--pg-port must be a whole number from 0 to 65535.'],
])('espalier %s is rejected: %s', (line, message) => {
  expect(() => readCommandLine(line.split(' '))).toThrow(expect.objectContaining({ code: 'E_USAGE', message }))
})

test.each([
  'operations watch --limit 3',
  'operations watch --all',
  'operations get ID --concurrency 2',
  'compute start main --concurrency 2',
])('espalier %s is rejected, because the flag would have no effect', (line) => {
  expect(() => readCommandLine(line.split(' '))).toThrow(/no flag --(limit|all|concurrency)/)
})

test.each(['apply --max-restarts 0 --max-cu-increase 0.25', 'sandbox serve --port 0 --pg-port 65535 --time-scale 0.5'])(
  'espalier %s is accepted',
  (line) => {
    expect(() => readCommandLine(line.split(' '))).not.toThrow()
  },
)
