import { describe, expect, test } from 'vitest'
import { readCommandLine } from '../../src/cli/command-line.ts'
import { allDescriptions } from '../../src/cli/descriptions.ts'
import { completeCommands, repeatedFlags } from '../../src/cli/setup/suggested-commands.ts'

/** What a message suggests while `line` runs. */
const suggested = async (line: string, command: string): Promise<string> => {
  const { values } = await readCommandLine(line.split(' '))
  return completeCommands(`\`espalier ${command}\``, values.invocation).slice('`espalier '.length, -1)
}

test.each([
  // The same manifests, selection, policies, safeguards and service.
  ['apply a.yaml --project shop* -- b.yaml', 'apply', "apply a.yaml b.yaml --project 'shop*'"],
  ['apply --policy p.yaml --override lim=later', 'apply', 'apply --policy p.yaml --override lim=later'],
  ['apply --base HEAD --introduced', 'apply --allow delete', 'apply --allow delete --introduced --base HEAD'],
  ['apply --base HEAD --introduced', 'plan', 'plan --introduced --base HEAD'],
  ['apply --timeout 90s --max-failures 0', 'apply', 'apply --max-failures 0 --timeout 1m30s'],
  ['apply --timeout 10m', 'apply', 'apply'],
  ['apply -', 'apply', 'apply -'],
  ['plan --sandbox= --wave canary', 'apply', 'apply --wave canary --sandbox'],
  // Consents add up, but a suggested command always asks.
  ['apply --auto-approve --allow delete', 'apply --allow move', 'apply --allow delete,move'],
  ['apply --allow none', 'apply --allow restart', 'apply --allow restart'],
  ['apply --override a=b', 'apply --override lim=REASON', 'apply --override lim=REASON --override a=b'],
  // Flags of the suggestion replace those of this run.
  ['apply --project shop* --branch main', 'apply --project shop', 'apply --project shop --branch main'],
  // A saved plan contains its selection.
  ['apply p.json --policy p.yaml', 'apply --allow delete', 'apply p.json --allow delete --policy p.yaml'],
  ['plan --out p.json --project shop --policy p.yaml', 'apply p.json', 'apply p.json --policy p.yaml'],
  // A plan that is saved without an override cannot be applied with it.
  ['apply p.json --sandbox=', 'apply --override lim=REASON', 'plan --out p.json --override lim=REASON --sandbox'],
  ['apply p.json', 'apply --override max-restarts=REASON', 'apply p.json --override max-restarts=REASON'],
  // Other commands need only the connection.
  ['apply --sandbox=my/seed.yaml --branch main', 'compute delete ep-1', 'compute delete ep-1 --sandbox=my/seed.yaml'],
  ['compute restart dev --sandbox= --now', 'compute start dev', 'compute start dev --sandbox'],
  ['drift --base v1 --branch main', 'apply --project shop', 'apply --project shop --branch main'],
  ['agent status --data here', 'agent run', 'agent run --data here'],
  ['apply --project shop', 'validate', 'validate'],
  ['fmt --check fleet', 'fmt', 'fmt fleet'],
])('`espalier %s` suggests `espalier %s` as `espalier %s`', async (line, command, expected) => {
  expect(await suggested(line, command)).toBe(expected)
  expect(await suggested(line, expected)).toBe(expected)
})

test('values are quoted for the shell', async () => {
  const { values } = await readCommandLine(['apply', 'my fleet', '--api-key-file', "it's; rm"])
  expect(completeCommands('`espalier apply`', values.invocation)).toBe(
    "`espalier apply 'my fleet' --api-key-file 'it'\\''s; rm'`",
  )
})

describe('a suggested command accepts the flags that it repeats', async () => {
  const commands = Object.entries(await allDescriptions())
  test.each(commands)('%s', (name, { flags }) => {
    for (const [running, { flags: others }] of commands) {
      if (running === name || name === 'agent run') continue
      const invocation = { name: running, flags: others, values: { introduced: true } }
      const repeated = repeatedFlags(name, invocation).filter((flag) => others[flag] !== undefined)
      expect(Object.keys(flags)).toEqual(expect.arrayContaining(repeated))
      // A command that needs a connection gets the one of this run.
      if (flags.sandbox !== undefined && others.sandbox !== undefined) expect(repeated).toContain('sandbox')
    }
  })
})
