/** Files for other programs: the skill for coding assistants, pre-commit hooks, SchemaStore entries. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { pathOf, readCommandLine } from '../../src/cli/command-line.ts'

const skill = readFileSync('docs/skill/SKILL.md', 'utf8')

test('the skill has a name and a description within the length limits of coding assistants', () => {
  const [, front = ''] = /^---\n([\s\S]+?)\n---\n/.exec(skill) ?? []
  const { name, description } = parse(front) as { name: string; description: string }
  expect(name).toMatch(/^[a-z-]{1,64}$/)
  expect(description.length).toBeLessThanOrEqual(1024)
  expect(skill.split('\n').length).toBeLessThan(200)
})

test('the skill recommends only commands that exist and change nothing', async () => {
  const [before = '', after = ''] = skill.split('## How to change a manifest')
  expect(before).toContain('Never without being asked')
  const lines = [...after.matchAll(/^\s*(espalier .+)$|`(espalier [^`]+)`/gm)].map(
    ([, block, inline]) => block ?? inline ?? '',
  )
  expect(lines.length).toBeGreaterThan(10)
  for (const line of lines) {
    const words = line
      .split(' ')
      .slice(1)
      .map((word) => (word === '--sandbox' ? '--sandbox=' : word))
    await expect(readCommandLine(words), line).resolves.toBeDefined()
    expect(pathOf(words).names.join(' '), line).not.toMatch(/^(apply|compute)/)
  }
})

test('the pre-commit hooks run existing commands that work offline', async () => {
  const hooks = parse(readFileSync('.pre-commit-hooks.yaml', 'utf8')) as { entry: string; files: string }[]
  for (const { entry, files } of hooks) {
    const [program, ...words] = entry.split(' ')
    expect(program).toBe('espalier')
    await expect(readCommandLine(words)).resolves.toBeDefined()
    expect(words[0]).toMatch(/^(validate|fmt)$/)
    const pattern = new RegExp(files)
    for (const file of ['espalier.yaml', 'espalier.yml', 'espalier/a/b.yaml']) expect(file).toMatch(pattern)
    for (const file of ['other.yaml', 'docs/espalier.yaml', 'espalier/a.json']) expect(file).not.toMatch(pattern)
  }
})

test('the SchemaStore entries use the $id of each schema as its URL', () => {
  const entries = JSON.parse(readFileSync('.github/schemastore.json', 'utf8')) as {
    url: string
    fileMatch: string[]
  }[]
  for (const { url, fileMatch } of entries) {
    const file = url.replace(/^.*\/schemas\//, 'schemas/')
    expect(JSON.parse(readFileSync(file, 'utf8')).$id).toBe(url)
    for (const match of fileMatch) expect(match).toMatch(/^espalier\./)
  }
})
