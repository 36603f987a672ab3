/** How command lines are parsed, and the messages for invalid ones. No command runs. */
import { expect, test } from 'vitest'
import { readCommandLine } from '../../src/cli/command-line.ts'
import { EVERY_COMMAND } from '../every-command.ts'

const read = (line: string) => readCommandLine(line.split(' '))

test.each([
  ['plann', 'There is no command plann: did you mean plan?'],
  ['xyzzyxyzzy', 'There is no command xyzzyxyzzy.'],
  ['--debug plann', 'There is no command plann: did you mean plan?'],
  ['sandbox serv', 'There is no command serv: did you mean serve?'],
  ['operations --limit 3', 'operations needs a subcommand.'],
  ['-V', 'There is no flag -V: did you mean --version?'],
  ['plan --fromat json', 'There is no flag --fromat: did you mean --format?'],
  ['plan --api-key=s3cret', 'There is no flag --api-key: did you mean --api-key-file?'],
  ['drift --wave a', 'drift has no flag --wave.'],
  ['--base main', 'espalier has no flag --base.'],
  ['operations list --base-ur x', 'There is no flag --base-ur: did you mean --base-url?'],
  ['plan --out', '--out needs a value.'],
  ['plan --out=', '--out needs a value.'],
  ['plan --out --debug', '--out needs a value.'],
  ['plan --format xml', '--format cannot be xml: it must be one of terminal, json, markdown.'],
  ['plan --format=xml', '--format cannot be xml: it must be one of terminal, json, markdown.'],
  ['plan --out a --out b', '--out is given more than once.'],
  ['plan --debug --debug', '--debug is given more than once.'],
  ['snapshot', '--out is required.'],
  ['completion', 'Missing argument: <shell>.'],
  ['completion tcsh', 'shell cannot be tcsh: it must be one of bash, zsh, fish.'],
  ['explain E_ONE E_TWO', 'Unexpected argument: E_TWO'],
  ['plan -project x', 'There is no flag -project: did you mean --project?'],
  ['plan --baseUrl x', 'There is no flag --baseUrl: did you mean --base-url?'],
])('espalier %s is rejected with the message: %s', async (line, message) => {
  await expect(read(line)).rejects.toThrow(expect.objectContaining({ code: 'E_USAGE', message }))
})

test.each([
  ['plan a.yaml b.yaml --out x.json', { paths: ['a.yaml', 'b.yaml'], out: 'x.json', format: 'terminal' }],
  ['plan', { paths: [] }],
  ['plan --detailed-exitcode a', { paths: ['a'], detailedExitcode: true }],
  ['--debug plan', { debug: true, paths: [] }],
  ['plan -- --odd.yaml', { paths: ['--odd.yaml'] }],
  ['plan -', { paths: ['<stdin>'] }],
  ['plan --sandbox= a', { sandbox: '', paths: ['a'] }],
  ['apply --max-failures 4', { maxFailures: 4 }],
  ['plan --base 1e3', { base: '1e3' }],
  ['plan --base -1 a', { base: '-1', paths: ['a'] }],
  ['explain 007', { code: '007' }],
  ['explain', { code: undefined }],
  ['apply --yes', { autoApprove: true }],
  ['apply --allow move --allow restart', { allow: ['move', 'restart'] }],
  ['apply --max-restarts 2', { maxRestarts: 2 }],
  ['operations list -o json', { format: 'json' }],
  ['operations list -o=json', { format: 'json' }],
  ['apply --auto-approve=', { autoApprove: false }],
])('espalier %s is parsed into the expected values', async (line, values) => {
  expect((await read(line)).values).toMatchObject(values)
})

// hint: If … is the sandbox's folder or seed, write: --sandbox=…
test('a seed after --sandbox, in a command without paths, is to be passed to it', async () => {
  const hint = expect.stringContaining('write: --sandbox=seed.yaml')
  await expect(read('init --sandbox= seed.yaml')).rejects.toThrow(expect.objectContaining({ code: 'E_USAGE', hint }))
  expect((await read('init --sandbox=seed.yaml')).values).toMatchObject({ sandbox: 'seed.yaml' })
})

test('every command rejects unknown flags, and every flag that needs a value is rejected without one', async () => {
  for (const { name: command, flags } of EVERY_COMMAND) {
    await expect(read(`${command} --nothing-like-it`)).rejects.toThrow('There is no flag --nothing-like-it')
    for (const [name, flag] of Object.entries(flags)) {
      if (flag.type === 'boolean' || flag.requiresArg !== true) continue
      await expect(read(`${command} --${name}=`), name).rejects.toThrow(`--${name} needs a value.`)
    }
  }
})

test('the table of commands lists the positionals of every command, and which of them may be missing', () => {
  for (const { name, line, positionals = {} } of EVERY_COMMAND) {
    const listed = [...line.matchAll(/([<[])(\w+)(\.\.)?[>\]]/g)].map(([, bracket, one, dots]) => [
      one,
      { array: dots !== undefined, optional: bracket === '[' && dots === undefined },
    ])
    const described = Object.entries(positionals).map(([one, { array = false, optional = false }]) => [
      one,
      { array, optional },
    ])
    expect(listed, name).toEqual(described)
  }
})
